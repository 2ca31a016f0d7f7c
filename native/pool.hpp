// A small pool of threads that lives as long as the process.
#pragma once

#include <functional>

namespace cellwright {

// Runs work(0) … work(threads - 1) at the same time, one of them on the calling thread, and
// waits for all. Calls from several threads take turns.
void run_together(int threads, const std::function<void(int)>& work);

}  // namespace cellwright

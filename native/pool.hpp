// Threads for one call.
#pragma once

#include <functional>

namespace cellwright {

// Runs work(thread, team) for every thread of a team of at most `threads` at the same time,
// one of them on the calling thread, and waits for all. The team may turn out smaller.
void run_together(int threads, const std::function<void(int, int)>& work);

}  // namespace cellwright

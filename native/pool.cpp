#include "pool.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "program.hpp"

namespace cellwright {

void cellwright_yield() { std::this_thread::yield(); }

namespace {

// Calls come in quick succession during training: look out for the next one for a while
// before going to sleep.
constexpr int kSpins = 4000;

class Pool {
 public:
  void run(int threads, const std::function<void(int)>& work) {
    while (static_cast<int>(workers_.size()) < threads - 1) {
      const int number = static_cast<int>(workers_.size()) + 1;
      workers_.emplace_back([this, number, seen = round_.load()] { serve(number, seen); });
      workers_.back().detach();
    }
    work_ = &work;
    threads_ = threads;
    left_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      round_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    work(0);
    for (int spins = 0; left_.load(std::memory_order_acquire) > 0; ++spins)
      if (spins > kSpins) std::this_thread::yield();
  }

 private:
  void serve(int number, unsigned seen) {
    for (;;) {
      for (int spins = 0; round_.load(std::memory_order_acquire) == seen; ++spins) {
        if (spins < kSpins) continue;
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return round_.load(std::memory_order_relaxed) != seen; });
      }
      ++seen;
      if (number < threads_) (*work_)(number);
      left_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<unsigned> round_{0};
  std::atomic<int> left_{0};
  const std::function<void(int)>* work_ = nullptr;
  int threads_ = 0;
};

// A forked child has none of the threads, and perhaps a locked mutex: it starts afresh. The
// old pool is left alone, because its threads may still be looking at it.
Pool* pool = nullptr;
std::mutex* turn = nullptr;

void start_afresh() {
  pool = new Pool;
  turn = new std::mutex;
}

[[maybe_unused]] const bool ready = [] {
  start_afresh();
  pthread_atfork(nullptr, nullptr, start_afresh);
  return true;
}();

}  // namespace

void run_together(int threads, const std::function<void(int)>& work) {
  if (threads <= 1) {
    work(0);
    return;
  }
  const std::lock_guard<std::mutex> lock(*turn);
  pool->run(threads, work);
}

}  // namespace cellwright

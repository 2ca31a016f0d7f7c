#include "pool.hpp"

#include <dlfcn.h>
#include <pthread.h>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <atomic>
#include <climits>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "program.hpp"

namespace cellwright {

#if defined(__linux__)
void sleep_while(const int32_t* number, int32_t value) {
  syscall(SYS_futex, number, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
void wake_all(const int32_t* number) {
  syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}
#else
void sleep_while(const int32_t*, int32_t) { std::this_thread::yield(); }
void wake_all(const int32_t*) {}
#endif

namespace {

using Work = std::function<void(int, int)>;

// -- torch's own threads ---------------------------------------------------------------
//
// torch has an OpenMP runtime in the process, whose threads stay awake for a while after
// each operation. A second set of threads would fight with them for the cores, so where
// the runtime's entry point can be found, its threads do the work.
struct OpenMP {
  void (*parallel)(void (*)(void*), void*, unsigned, unsigned);
  int (*thread)();
  int (*team)();
};

const OpenMP* find_openmp() {
#if defined(CELLWRIGHT_OWN_THREADS)
  return nullptr;
#else
  static const OpenMP found = {
      reinterpret_cast<decltype(OpenMP::parallel)>(dlsym(RTLD_DEFAULT, "GOMP_parallel")),
      reinterpret_cast<decltype(OpenMP::thread)>(dlsym(RTLD_DEFAULT, "omp_get_thread_num")),
      reinterpret_cast<decltype(OpenMP::team)>(dlsym(RTLD_DEFAULT, "omp_get_num_threads"))};
  return found.parallel && found.thread && found.team ? &found : nullptr;
#endif
}

struct OpenMPJob {
  const OpenMP* openmp;
  const Work* work;
};

void run_openmp_job(void* data) {
  const auto* job = static_cast<const OpenMPJob*>(data);
  (*job->work)(job->openmp->thread(), job->openmp->team());
}

// -- threads of our own, elsewhere -----------------------------------------------------

// Calls come in quick succession during training: look out for the next one for a while
// before going to sleep.
constexpr int kSpins = 4000;

class Pool {
 public:
  void run(int threads, const Work& work) {
    while (static_cast<int>(workers_) < threads - 1) {
      const int number = ++workers_;
      std::thread([this, number, seen = round_.load()] { serve(number, seen); }).detach();
    }
    work_ = &work;
    threads_ = threads;
    left_.store(workers_, std::memory_order_relaxed);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      round_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    work(0, threads);
    for (int spins = 0;; ++spins) {
      const int32_t left = left_.load(std::memory_order_acquire);
      if (left == 0) break;
      if (spins > kSpins) sleep_while(reinterpret_cast<const int32_t*>(&left_), left);
    }
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
      if (number < threads_) (*work_)(number, threads_);
      left_.fetch_sub(1, std::memory_order_release);
      wake_all(reinterpret_cast<const int32_t*>(&left_));
    }
  }

  int workers_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<unsigned> round_{0};
  std::atomic<int32_t> left_{0};
  const Work* work_ = nullptr;
  int threads_ = 0;
};

// A forked child has none of the threads, and perhaps a locked mutex: it starts afresh, with
// threads of its own, because GNU's OpenMP runtime waits for its lost threads forever. The
// old pool is left alone.
Pool* pool = new Pool;
std::mutex* turn = new std::mutex;
bool is_forked = false;

void start_afresh() {
  pool = new Pool;
  turn = new std::mutex;
  is_forked = true;
}

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, start_afresh);

}  // namespace

void run_together(int threads, const Work& work) {
  if (threads <= 1) {
    work(0, 1);
  } else if (const OpenMP* openmp = is_forked ? nullptr : find_openmp()) {
    OpenMPJob job{openmp, &work};
    openmp->parallel(run_openmp_job, &job, static_cast<unsigned>(threads), 0);
  } else {
    const std::lock_guard<std::mutex> lock(*turn);
    pool->run(threads, work);
  }
}

}  // namespace cellwright

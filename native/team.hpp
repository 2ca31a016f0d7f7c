// How the threads of one call meet and share out work.
#pragma once

#include "program.hpp"

namespace {

using namespace cellwright;

// About 20 microseconds. Longer waits mean that the other thread is not running: whoever then spins
// on keeps it from a core, and a thread that sleeps is soon on again when it is woken.
constexpr int kBarrierSpins = 1000;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

void wait(Team& team, int threads) {
  if (threads == 1) return;
  const int32_t generation = __atomic_load_n(&team.generation, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&team.arrived, 1, __ATOMIC_ACQ_REL) == threads) {
    __atomic_store_n(&team.arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&team.generation, generation + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&team.sleepers, __ATOMIC_SEQ_CST)) wake_all(&team.generation);
    return;
  }
  for (int spins = 0; spins < kBarrierSpins; ++spins) {
    if (__atomic_load_n(&team.generation, __ATOMIC_ACQUIRE) != generation) return;
    relax();
  }
  __atomic_add_fetch(&team.sleepers, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&team.generation, __ATOMIC_SEQ_CST) == generation)
    sleep_while(&team.generation, generation);
  __atomic_sub_fetch(&team.sleepers, 1, __ATOMIC_RELAXED);
}

// The next piece of work that nobody has taken. Cores are not equally fast, above all on a
// shared machine, so large products are handed out piece by piece; who computes a piece
// does not change its result.
enum Queue { kProjections = 0, kGradients = 1 };

int64_t claim_next(Team& team, Queue queue) {
  return __atomic_fetch_add(&team.claimed[queue], 1, __ATOMIC_RELAXED);
}

struct Range {
  int64_t begin, end;
};

Range share(int64_t total, int thread, int threads) {
  return {total * thread / threads, total * (thread + 1) / threads};
}

}  // namespace

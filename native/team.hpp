// How the threads of one call meet and share out work.
#pragma once

#include "program.hpp"

namespace {

using namespace cellwright;

constexpr int kBarrierSpins = 2000;  // longer waits mean that the other thread is not running

void wait(Team& team, int threads) {
  if (threads == 1) return;
  const int32_t generation = __atomic_load_n(&team.generation, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&team.arrived, 1, __ATOMIC_ACQ_REL) == threads) {
    __atomic_store_n(&team.arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&team.generation, generation + 1, __ATOMIC_RELEASE);
    return;
  }
  for (int64_t spins = 0; __atomic_load_n(&team.generation, __ATOMIC_ACQUIRE) == generation;
       ++spins) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    if (spins > kBarrierSpins) cellwright_yield();
  }
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

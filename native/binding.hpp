// What the files of the Python side share: the chosen core, its memory, and what is handed to it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include <nanobind/nanobind.h>

#include "pool.hpp"
#include "program.hpp"

namespace cellwright {

// The instruction set that calls run on.
const Core& chosen_core();

// Whether it has products of bfloat16 numbers; and what runs calls with them, or without.
bool has_bfloat16();
const Core& core_for(bool bfloat16);

void bind_crf(nanobind::module_& m);
void bind_matrix_product(nanobind::module_& m);
void bind_program(nanobind::module_& m);

// Memory for one pass, kept by each calling thread for the next: fresh pages cost more than
// the arithmetic of a small cell.
class Scratch {
 public:
  ~Scratch() { std::free(memory_); }
  float* get(int64_t floats) {
    if (floats > size_) {
      std::free(memory_);
      memory_ = nullptr;
      size_ = 0;
      const size_t bytes = static_cast<size_t>(floats) * sizeof(float);
      memory_ = static_cast<float*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
      if (!memory_) throw std::bad_alloc();
      size_ = floats;
    }
    return memory_;
  }

 private:
  float* memory_ = nullptr;
  int64_t size_ = 0;
};

template <typename T>
T* pointer(int64_t address) {
  return reinterpret_cast<T*>(static_cast<intptr_t>(address));
}

inline int checked_threads(int threads) {
  if (threads < 1 || threads > kMostThreads)
    throw std::invalid_argument("threads must be from 1 to 64");
  return threads;
}

// Runs one call of a core on its threads, with memory that is kept for the next.
template <typename Call>
void run_on_threads(Call call, int64_t (*floats)(const Call&),
                    void (*run)(const Call&, Team&, int), Scratch& scratch) {
  call.scratch = scratch.get(floats(call));
  Team shared{};
  run_together(call.threads, [&](int thread, int team) {
    Call mine = call;
    mine.threads = team;
    run(mine, shared, thread);
  });
}

}  // namespace cellwright

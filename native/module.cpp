// The Python side of the core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "binding.hpp"

namespace nb = nanobind;

namespace cellwright {

#ifdef CELLWRIGHT_HAS_X86
extern const Core core_avx512;
extern const Core core_avx2;
#endif
#ifdef CELLWRIGHT_HAS_BFLOAT16
extern const Core core_avx512bf16;
#endif
extern const Core core_plain;

namespace {

std::vector<const Core*> supported_cores() {
  std::vector<const Core*> cores;
#ifdef CELLWRIGHT_HAS_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    cores.push_back(&core_avx512);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) cores.push_back(&core_avx2);
#endif
  cores.push_back(&core_plain);
  return cores;
}

const Core* chosen = supported_cores().front();

}  // namespace

const Core& chosen_core() { return *chosen; }

// Its core stands beside that for AVX-512, which computes everything else.
bool has_bfloat16() {
#ifdef CELLWRIGHT_HAS_BFLOAT16
  return chosen == &core_avx512 && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

const Core& core_for(bool bfloat16) {
  if (!bfloat16) return *chosen;
#ifdef CELLWRIGHT_HAS_BFLOAT16
  if (has_bfloat16()) return core_avx512bf16;
#endif
  throw std::invalid_argument("the instruction set that is chosen has no bfloat16");
}

namespace {

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const Core* core : supported_cores()) names.emplace_back(core->name);
  return names;
}

void use_instruction_set(const std::string& name) {
  for (const Core* core : supported_cores())
    if (core->name == name) {
      chosen = core;
      return;
    }
  throw std::invalid_argument("this machine has no instruction set '" + name + "'");
}

void cross_entropy(int64_t rows, int64_t width, int64_t words, int64_t hidden, int64_t weight,
                   int64_t bias, int64_t targets, int64_t losses, int64_t d_hidden,
                   int64_t d_weight, int64_t d_bias, bool bfloat16, int threads) {
  CrossEntropy call{rows,
                    width,
                    words,
                    pointer<const float>(hidden),
                    pointer<const float>(weight),
                    pointer<const float>(bias),
                    pointer<const int64_t>(targets),
                    pointer<float>(losses),
                    pointer<float>(d_hidden),
                    pointer<float>(d_weight),
                    pointer<float>(d_bias),
                    nullptr,
                    checked_threads(threads)};
  const Core& core = core_for(bfloat16);
  const nb::gil_scoped_release unlocked;
  static thread_local Scratch scratch;
  run_on_threads(call, core.cross_entropy_floats, core.run_cross_entropy, scratch);
}

}  // namespace
}  // namespace cellwright

NB_MODULE(_native, m) {
  nb::set_leak_warnings(false);
  m.doc() = "The interpreter for cells: see cellwright.engine.native_backend.";
  m.def("instruction_sets", &cellwright::instruction_sets,
        "The instruction sets that this machine can run, best first.");
  m.def("use_instruction_set", &cellwright::use_instruction_set, nb::arg("name"),
        "Choose one of instruction_sets() for all later calls.");
  m.def("has_bfloat16", &cellwright::has_bfloat16,
        "Whether the instruction set that is chosen has products of bfloat16 numbers.");
  m.def("cross_entropy", &cellwright::cross_entropy, nb::kw_only(), nb::arg("rows"),
        nb::arg("width"), nb::arg("words"), nb::arg("hidden"), nb::arg("weight"), nb::arg("bias"),
        nb::arg("targets"), nb::arg("losses"), nb::arg("d_hidden"), nb::arg("d_weight"),
        nb::arg("d_bias"), nb::arg("bfloat16"), nb::arg("threads"),
        "Losses of all rows and gradients of their mean. Memory is given by address.");
  cellwright::bind_crf(m);
  cellwright::bind_matrix_product(m);
  cellwright::bind_program(m);
}

// The Python side of the core: a program is made once per cell, and run once per pass.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
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
extern const Core core_plain;

namespace {

using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;

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

// How the rows of a batch are shared out. Cores differ in speed, above all on a machine that
// others use as well, so each calling thread remembers how fast its team's threads were. Who
// computes a row does not change its result.
class Shares {
 public:
  const double* get(int threads) {
    if (shares_.size() != static_cast<size_t>(threads))
      shares_.assign(static_cast<size_t>(threads), 1.0 / threads);
    return shares_.data();
  }

  void learn(const Team& team, int threads) {
    double total = 0;
    for (int i = 0; i < threads; ++i) {
      if (team.pace[i] <= 0) return;  // a thread had no rows, or the team was smaller
      total += team.pace[i];
    }
    double sum = 0;
    for (int i = 0; i < threads; ++i) {
      double& share = shares_[static_cast<size_t>(i)];
      const double seen = std::clamp(team.pace[i] / total * threads, 0.6, 1.4) / threads;
      share += kLearning * (seen - share);
      sum += share;
    }
    for (double& share : shares_) share /= sum;
  }

 private:
  static constexpr double kLearning = 0.3;
  std::vector<double> shares_;
};

template <typename T>
const T* as(const Ints& ints, size_t fields) {
  static_assert(alignof(T) == alignof(int32_t), "tables are made of 32-bit integers");
  if (sizeof(T) != fields * sizeof(int32_t) || ints.size() % fields != 0)
    throw std::invalid_argument("a table of the program has the wrong shape");
  return reinterpret_cast<const T*>(ints.data());
}

template <typename T>
int32_t count(const Ints& ints) {
  return static_cast<int32_t>(ints.size() * sizeof(int32_t) / sizeof(T));
}

template <typename T>
T* const* pointers(const Longs& addresses) {
  static_assert(sizeof(int64_t) == sizeof(T*));
  return addresses.empty() ? nullptr : reinterpret_cast<T* const*>(addresses.data());
}

void cross_entropy(int64_t rows, int64_t width, int64_t words, int64_t hidden, int64_t weight,
                   int64_t bias, int64_t targets, int64_t losses, int64_t d_hidden,
                   int64_t d_weight, int64_t d_bias, int threads) {
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
  const nb::gil_scoped_release unlocked;
  const Core& core = *chosen;
  static thread_local Scratch scratch;
  run_on_threads(call, core.cross_entropy_floats, core.run_cross_entropy, scratch);
}

class NativeProgram {
 public:
  NativeProgram(Ints values, Ints steps, Ints inputs, Ints terms, Ints projections,
                Ints weight_jobs, Ints bias_jobs, Ints input_jobs, Ints stored, Ints weight_rows,
                Ints weight_columns, Ints bias_group, Ints group_width, int32_t blocks,
                int32_t chunks, int32_t states, int32_t history, int32_t thetas,
                int32_t input_gradient, bool backward)
      : tables_{std::move(values),      std::move(steps),          std::move(inputs),
                std::move(terms),       std::move(projections),    std::move(weight_jobs),
                std::move(bias_jobs),   std::move(input_jobs),     std::move(stored),
                std::move(weight_rows), std::move(weight_columns), std::move(bias_group),
                std::move(group_width)} {
    const auto& t = tables_;
    program_ = Program{as<Value>(t[0], 4),
                       as<Step>(t[1], 7),
                       count<Step>(t[1]),
                       t[2].data(),
                       as<Term>(t[3], 3),
                       as<Projection>(t[4], 4),
                       count<Projection>(t[4]),
                       as<WeightJob>(t[5], 5),
                       count<WeightJob>(t[5]),
                       as<BiasJob>(t[6], 2),
                       count<BiasJob>(t[6]),
                       as<InputJob>(t[7], 4),
                       count<InputJob>(t[7]),
                       as<Buffer>(t[8], 2),
                       count<Buffer>(t[8]),
                       as<Width>(t[9], 1),
                       as<Width>(t[10], 1),
                       count<Width>(t[9]),
                       t[11].data(),
                       count<int32_t>(t[11]),
                       as<Width>(t[12], 1),
                       count<Width>(t[12]),
                       blocks,
                       chunks,
                       states,
                       history,
                       thetas,
                       input_gradient,
                       backward};
  }
  NativeProgram(const NativeProgram&) = delete;
  NativeProgram& operator=(const NativeProgram&) = delete;

  void run(int64_t steps, int64_t batch, int64_t hidden, int64_t input,
           const std::optional<Longs>& active, const Longs& stored, const Longs& stored_ld,
           const Longs& constants, const Longs& weights, const Longs& biases,
           const Longs& weight_gradients, const Longs& bias_gradients, int64_t theta,
           int64_t theta_gradient, int64_t output, int64_t output_gradient, const Longs& initial,
           const Longs& final_states, const Longs& final_gradients,
           const Longs& initial_gradients, int threads, bool split_columns) const {
    if (stored.size() != static_cast<size_t>(program_.stored_count) ||
        stored_ld.size() != stored.size() ||
        weights.size() != static_cast<size_t>(program_.weight_count) ||
        biases.size() != static_cast<size_t>(program_.bias_count))
      throw std::invalid_argument("the program has other tables than the call");
    Call call{};
    call.steps = steps;
    call.batch = batch;
    call.hidden = hidden;
    call.input = input;
    call.active = active ? active->data() : nullptr;
    call.stored = pointers<float>(stored);
    call.stored_ld = stored_ld.data();
    call.constants = pointers<const float>(constants);
    call.weights = pointers<const float>(weights);
    call.biases = pointers<const float>(biases);
    call.weight_gradients = pointers<float>(weight_gradients);
    call.bias_gradients = pointers<float>(bias_gradients);
    call.theta = pointer<const float>(theta);
    call.theta_gradient = pointer<float>(theta_gradient);
    call.output = pointer<float>(output);
    call.output_gradient = pointer<const float>(output_gradient);
    call.initial = pointers<const float>(initial);
    call.final_states = pointers<float>(final_states);
    call.final_gradients = pointers<const float>(final_gradients);
    call.initial_gradients = pointers<float>(initial_gradients);
    call.threads = checked_threads(threads);
    call.split_columns = split_columns && threads > 1;
    const nb::gil_scoped_release unlocked;
    const Core& core = *chosen;
    static thread_local Scratch scratch;
    call.scratch = scratch.get(core.scratch_floats(program_, call));
    static thread_local Shares shares;
    const double* const wanted = shares.get(threads);
    Team shared{};
    run_together(threads, [&](int thread, int team) {
      Call mine = call;
      mine.threads = team;
      mine.shares = team == threads ? wanted : nullptr;
      core.run(program_, mine, shared, thread);
    });
    if (!call.split_columns) shares.learn(shared, threads);
  }

 private:
  std::vector<Ints> tables_;
  Program program_{};
};

}  // namespace
}  // namespace cellwright

NB_MODULE(_native, m) {
  nb::set_leak_warnings(false);
  using cellwright::NativeProgram;
  m.doc() = "The interpreter for cells: see cellwright.engine.native_backend.";
  m.def("instruction_sets", &cellwright::instruction_sets,
        "The instruction sets that this machine can run, best first.");
  m.def("use_instruction_set", &cellwright::use_instruction_set, nb::arg("name"),
        "Choose one of instruction_sets() for all later calls.");
  m.def("cross_entropy", &cellwright::cross_entropy, nb::kw_only(), nb::arg("rows"),
        nb::arg("width"), nb::arg("words"), nb::arg("hidden"), nb::arg("weight"), nb::arg("bias"),
        nb::arg("targets"), nb::arg("losses"), nb::arg("d_hidden"), nb::arg("d_weight"),
        nb::arg("d_bias"), nb::arg("threads"),
        "Losses of all rows and gradients of their mean. Memory is given by address.");
  cellwright::bind_crf(m);
  using cellwright::Ints;
  nb::class_<NativeProgram>(m, "Program", "A cell's program for one pass.")
      .def(nb::init<Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints,
                    int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, bool>(),
           nb::arg("values"), nb::arg("steps"), nb::arg("inputs"), nb::arg("terms"),
           nb::arg("projections"), nb::arg("weight_jobs"), nb::arg("bias_jobs"),
           nb::arg("input_jobs"), nb::arg("stored"), nb::arg("weight_rows"),
           nb::arg("weight_columns"), nb::arg("bias_group"), nb::arg("group_width"),
           nb::arg("blocks"), nb::arg("chunks"), nb::arg("states"), nb::arg("history"),
           nb::arg("thetas"), nb::arg("input_gradient"), nb::arg("backward"))
      .def("run", &NativeProgram::run, nb::kw_only(), nb::arg("steps"), nb::arg("batch"),
           nb::arg("hidden"), nb::arg("input"), nb::arg("active").none(), nb::arg("stored"),
           nb::arg("stored_ld"), nb::arg("constants"), nb::arg("weights"), nb::arg("biases"),
           nb::arg("weight_gradients"), nb::arg("bias_gradients"), nb::arg("theta"),
           nb::arg("theta_gradient"), nb::arg("output"), nb::arg("output_gradient"),
           nb::arg("initial"), nb::arg("final_states"), nb::arg("final_gradients"),
           nb::arg("initial_gradients"), nb::arg("threads"), nb::arg("split_columns"),
           "Run all time steps. Memory is given by address; null addresses are not needed.");
}

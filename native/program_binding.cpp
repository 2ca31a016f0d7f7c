// The Python side of programs: one is made once per cell, and called once per pass.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "binding.hpp"

namespace nb = nanobind;

namespace cellwright {
namespace {

using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;

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

class NativeProgram {
 public:
  NativeProgram(Ints values, Ints steps, Ints inputs, Ints terms, Ints projections,
                Ints weight_jobs, Ints bias_jobs, Ints input_jobs, Ints stored, Ints weight_rows,
                Ints weight_columns, Ints bias_group, Ints group_width, int32_t blocks,
                int32_t chunks, int32_t states, int32_t history, int32_t thetas,
                int32_t input_gradient, bool backward, bool bfloat16)
      : tables_{std::move(values),      std::move(steps),          std::move(inputs),
                std::move(terms),       std::move(projections),    std::move(weight_jobs),
                std::move(bias_jobs),   std::move(input_jobs),     std::move(stored),
                std::move(weight_rows), std::move(weight_columns), std::move(bias_group),
                std::move(group_width)},
        bfloat16_(bfloat16) {
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

  const Program& tables() const { return program_; }

  // What runs it, on the instruction set that is chosen now.
  const Core& core() const { return core_for(bfloat16_); }

  // Floats that its packed weights take where they are kept for later calls.
  int64_t kept_floats(int64_t hidden, int64_t input) const {
    Call call{};
    call.batch = call.threads = 1;
    call.hidden = hidden;
    call.input = input;
    return core().kept_floats(program_, call);
  }

 private:
  std::vector<Ints> tables_;
  Program program_{};
  bool bfloat16_;
};

// One pass of a program over a caller's memory.
class NativeCall {
 public:
  NativeCall(const NativeProgram& program, int64_t steps, int64_t batch, int64_t hidden,
             int64_t input, int64_t output_ld, bool backwards, std::optional<Longs> active,
             Longs stored, Longs stored_ld, Longs constants, Longs weights, Longs biases, int64_t theta, Longs initial,
             int64_t output, Longs final_states, int64_t kept, int64_t output_gradient,
             Longs final_gradients, Longs initial_gradients, Longs weight_gradients,
             Longs bias_gradients, int64_t theta_gradient)
      : program_(program.tables()),
        core_(program.core()),
        active_(std::move(active)),
        tables_{std::move(stored),          std::move(stored_ld),    std::move(constants),
                std::move(weights),         std::move(biases),       std::move(weight_gradients),
                std::move(bias_gradients),  std::move(initial),      std::move(final_states),
                std::move(final_gradients), std::move(initial_gradients)} {
    const auto& t = tables_;
    if (t[0].size() != static_cast<size_t>(program_.stored_count) || t[1].size() != t[0].size() ||
        t[3].size() != static_cast<size_t>(program_.weight_count) ||
        t[4].size() != static_cast<size_t>(program_.bias_count))
      throw std::invalid_argument("the program has other tables than the call");
    call_.steps = steps;
    call_.batch = batch;
    call_.hidden = hidden;
    call_.input = input;
    call_.output_ld = output_ld;
    call_.backwards = backwards;
    call_.active = active_ ? active_->data() : nullptr;
    call_.stored = pointers<float>(t[0]);
    call_.stored_ld = t[1].data();
    call_.constants = pointers<const float>(t[2]);
    call_.weights = pointers<const float>(t[3]);
    call_.biases = pointers<const float>(t[4]);
    call_.weight_gradients = pointers<float>(t[5]);
    call_.bias_gradients = pointers<float>(t[6]);
    call_.theta = pointer<const float>(theta);
    call_.theta_gradient = pointer<float>(theta_gradient);
    call_.output = pointer<float>(output);
    call_.output_gradient = pointer<const float>(output_gradient);
    call_.initial = pointers<const float>(t[7]);
    call_.final_states = pointers<float>(t[8]);
    call_.final_gradients = pointers<const float>(t[9]);
    call_.initial_gradients = pointers<float>(t[10]);
    call_.kept = pointer<float>(kept);
  }
  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;

  // The call for a team of so many threads, without memory yet.
  Call with_threads(int threads, bool split_columns) const {
    Call call = call_;
    call.threads = threads;
    call.split_columns = split_columns && threads > 1;
    return call;
  }

  const Program& program() const { return program_; }
  const Core& core() const { return core_; }

 private:
  const Program& program_;
  const Core& core_;
  std::optional<Longs> active_;
  std::vector<Longs> tables_;
  Call call_{};
};

thread_local Scratch scratch;

void run_one(const NativeCall& one, int threads, bool split_columns) {
  Call call = one.with_threads(threads, split_columns);
  call.scratch = scratch.get(one.core().scratch_floats(one.program(), call));
  static thread_local Shares shares;
  const double* const wanted = shares.get(threads);
  Team shared{};
  run_together(threads, [&](int thread, int team) {
    Call mine = call;
    mine.threads = team;
    mine.shares = team == threads ? wanted : nullptr;
    one.core().run(one.program(), mine, shared, thread);
  });
  if (!call.split_columns) shares.learn(shared, threads);
}

// Several calls that do not wait for each other, each with threads of its own: the first thread
// has the first call, the next one the next, and so on, from the beginning again. Of a team that
// turns out smaller than the calls are many, each thread takes several.
void run_at_once(const std::vector<const NativeCall*>& calls, int threads, bool split_columns) {
  const int count = static_cast<int>(calls.size());
  const int most = (threads + count - 1) / count;
  std::vector<Call> each;
  std::vector<int64_t> floats;
  int64_t total = 0;
  for (const NativeCall* one : calls) {
    each.push_back(one->with_threads(most, split_columns));
    floats.push_back(padded(one->core().scratch_floats(one->program(), each.back())));
    total += floats.back();
  }
  float* memory = scratch.get(total);
  for (size_t i = 0; i < each.size(); ++i) {
    each[i].scratch = memory;
    memory += floats[i];
  }
  std::vector<Team> shared(calls.size());
  run_together(threads, [&](int thread, int team) {
    for (int i = thread % count; i < count; i += team) {
      Call mine = each[static_cast<size_t>(i)];
      mine.threads = team < count ? 1 : (team - i + count - 1) / count;
      mine.split_columns = mine.split_columns && mine.threads > 1;
      const NativeCall& one = *calls[static_cast<size_t>(i)];
      one.core().run(one.program(), mine, shared[static_cast<size_t>(i)],
                     team < count ? 0 : thread / count);
    }
  });
}

void run_calls(const std::vector<const NativeCall*>& calls, int threads, bool split_columns,
               bool at_once) {
  checked_threads(threads);
  const nb::gil_scoped_release unlocked;
  if (at_once && calls.size() > 1 && threads > 1) return run_at_once(calls, threads, split_columns);
  for (const NativeCall* one : calls) run_one(*one, threads, split_columns);
}

template <typename... Arguments>
NativeCall* make_call(const NativeProgram& program, Arguments... arguments) {
  return new NativeCall(program, std::move(arguments)...);
}

}  // namespace

void bind_program(nb::module_& m) {
  nb::class_<NativeCall>(m, "Call", "One pass of a program over all time steps.");
  nb::class_<NativeProgram>(m, "Program", "A cell's program for one pass.")
      .def(nb::init<Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints,
                    int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, bool, bool>(),
           nb::arg("values"), nb::arg("steps"), nb::arg("inputs"), nb::arg("terms"),
           nb::arg("projections"), nb::arg("weight_jobs"), nb::arg("bias_jobs"),
           nb::arg("input_jobs"), nb::arg("stored"), nb::arg("weight_rows"),
           nb::arg("weight_columns"), nb::arg("bias_group"), nb::arg("group_width"),
           nb::arg("blocks"), nb::arg("chunks"), nb::arg("states"), nb::arg("history"),
           nb::arg("thetas"), nb::arg("input_gradient"), nb::arg("backward"),
           nb::arg("bfloat16") = false)
      .def("kept_floats", &NativeProgram::kept_floats, nb::arg("hidden"), nb::arg("input"),
           "Floats that packed weights take which are kept from call to call.")
      .def("call",
           &make_call<int64_t, int64_t, int64_t, int64_t, int64_t, bool, std::optional<Longs>, Longs,
                      Longs, Longs, Longs, Longs, int64_t, Longs, int64_t, Longs, int64_t, int64_t, Longs, Longs,
                      Longs, Longs, int64_t>,
           nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(), nb::arg("steps"),
           nb::arg("batch"), nb::arg("hidden"), nb::arg("input"), nb::arg("output_ld"),
           nb::arg("backwards"), nb::arg("active").none(),
           nb::arg("stored"), nb::arg("stored_ld"), nb::arg("constants"), nb::arg("weights"),
           nb::arg("biases"), nb::arg("theta"), nb::arg("initial"), nb::arg("output"),
           nb::arg("final_states"), nb::arg("kept"), nb::arg("output_gradient"),
           nb::arg("final_gradients"), nb::arg("initial_gradients"), nb::arg("weight_gradients"),
           nb::arg("bias_gradients"), nb::arg("theta_gradient"),
           "A pass over a caller's memory, given by address; null addresses are not needed.");
  m.def("run", &run_calls, nb::arg("calls"), nb::arg("threads"),
        nb::arg("split_columns"), nb::arg("at_once"),
        "Run calls on so many threads: one after the other, or at once.");
}

}  // namespace cellwright

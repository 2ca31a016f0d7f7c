// The interpreter: runs a cell's program over all time steps, forward or backward.
//
// This file is compiled once per instruction set. It uses no templates of the standard
// library, so that no code for a newer processor can end up in a shared symbol. Compiled with
// CELLWRIGHT_BFLOAT16 it is the same interpreter, and cross-entropy, with products of bfloat16 numbers.
#include <time.h>

#include "cross_entropy.hpp"
#include "loop.hpp"
#include "products.hpp"
#ifndef CELLWRIGHT_BFLOAT16
#include "crf.hpp"
#include "crf_decode.hpp"
#include "matrix_product.hpp"
#endif

#ifndef CELLWRIGHT_CORE
#error "define CELLWRIGHT_CORE as the name of this instruction set"
#endif

namespace {

void set_initial_states(Machine& m) {
  const int64_t h = m.c.hidden, ld = m.ld[0];
  for (int s = 0; s < m.p.state_count; ++s)
    for (int k = 1; k <= m.p.history; ++k) {
      const float* from = m.c.initial ? m.c.initial[s * m.p.history + k - 1] : nullptr;
      float* to = stored_at(m, s, -k);
      for (int64_t r = m.rows.begin; r < m.rows.end; ++r)
        if (from)
          copy_row(to + r * ld, from + r * h, h, ld - h);
        else
          std::memset(to + r * ld, 0, sizeof(float) * static_cast<size_t>(ld));
    }
}

int64_t length_of(const Call& c, int64_t row) {
  if (!c.active) return c.steps;
  int64_t steps = c.steps;
  while (steps > 0 && c.active[steps - 1] <= row) --steps;
  return steps;
}

void get_final_states(Machine& m) {
  const int64_t h = m.c.hidden, ld = m.ld[0];
  for (int64_t r = m.rows.begin; r < m.rows.end; ++r) {
    const int64_t length = length_of(m.c, r);
    for (int s = 0; s < m.p.state_count; ++s)
      for (int k = 1; k <= m.p.history; ++k)
        std::memcpy(m.c.final_states[s * m.p.history + k - 1] + r * h,
                    stored_at(m, s, length - k) + r * ld, sizeof(float) * static_cast<size_t>(h));
  }
}

int64_t active_rows(const Call& c, int64_t step) { return c.active ? c.active[step] : c.batch; }

// Gradients of final states enter at each row's own last steps.
void inject_final_gradients(Machine& m, int64_t step) {
  if (!m.c.final_gradients) return;
  const int64_t h = m.c.hidden, ld = m.ld[0];
  for (int k = 1; k <= m.p.history; ++k) {
    if (!m.c.active && step != m.c.steps - k) continue;
    for (int64_t r = m.rows.begin; r < m.rows.end; ++r) {
      if (m.c.active && length_of(m.c, r) - k != step) continue;
      for (int s = 0; s < m.p.state_count; ++s) {
        const float* from = m.c.final_gradients[s * m.p.history + k - 1];
        if (!from) continue;
        float* to = ring_at(m, s, step + m.p.history) + r * ld;
        for (int64_t i = 0; i < h; ++i) to[i] += from[r * h + i];
      }
    }
  }
}

double seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void note_pace(Machine& m, double start) {
  const double taken = seconds() - start;
  if (taken > 0) m.team.pace[m.thread] = static_cast<double>(row_steps(m.c, m.rows)) / taken;
}

void run_forward(Machine& m) {
  pack_weights(m);
  add_biases(m);
  set_initial_states(m);
  wait(m.team, m.threads);
  project_inputs(m);
  wait(m.team, m.threads);
  const int64_t values = value_count(m.p);
  const double start = seconds();
  for (int64_t t = 0; t < m.c.steps; ++t) {
    find_values(m, t, values);
    run_step(m, t, active_rows(m.c, t));
    if (m.c.split_columns) wait(m.team, m.threads);
  }
  note_pace(m, start);
  get_final_states(m);
}

void clear_ring(Machine& m, int state, int64_t index) {
  std::memset(ring_at(m, state, index) + m.rows.begin * m.ld[0], 0,
              sizeof(float) * static_cast<size_t>((m.rows.end - m.rows.begin) * m.ld[0]));
}

void run_backward(Machine& m) {
  const Program& p = m.p;
  pack_weights(m);
  for (int s = 0; s < p.state_count; ++s)
    for (int k = 0; k <= p.history; ++k) clear_ring(m, s, k);
  wait(m.team, m.threads);
  const int64_t values = value_count(p);
  const double start = seconds();
  for (int64_t t = m.c.steps - 1; t >= 0; --t) {
    find_values(m, t, values);
    inject_final_gradients(m, t);
    run_step(m, t, active_rows(m.c, t));
    if (m.c.split_columns) wait(m.team, m.threads);
    for (int s = 0; s < p.state_count; ++s) clear_ring(m, s, t + p.history);
  }
  note_pace(m, start);
  for (int k = 1; k <= p.history; ++k) {
    inject_final_gradients(m, -k);
    for (int s = 0; s < p.state_count; ++s) {
      float* to = m.c.initial_gradients ? m.c.initial_gradients[s * p.history + k - 1] : nullptr;
      for (int64_t r = m.rows.begin; to && r < m.rows.end; ++r)
        std::memcpy(to + r * m.c.hidden, ring_at(m, s, p.history - k) + r * m.ld[0],
                    sizeof(float) * static_cast<size_t>(m.c.hidden));
    }
  }
  wait(m.team, m.threads);
  collect_gradients(m);
}

int64_t scratch_floats(const Program& p, const Call& c) {
  Team none{};
  Machine m = make_machine(p, c, none, 0);
  return lay_out(m, nullptr, 0);
}

int64_t kept_floats(const Program& p, const Call& c) {
  Team none{};
  Machine m = make_machine(p, c, none, 0);
  return lay_out_kept(m, nullptr);
}

void run(const Program& p, const Call& c, Team& team, int thread) {
  Machine m = make_machine(p, c, team, thread);
  lay_out(m, c.scratch, thread);
  wait(team, c.threads);  // the first thread wrote the tables that all read
  if (p.backward)
    run_backward(m);
  else
    run_forward(m);
}

}  // namespace

namespace cellwright {

#define CELLWRIGHT_TEXT2(x) #x
#define CELLWRIGHT_TEXT(x) CELLWRIGHT_TEXT2(x)
#define CELLWRIGHT_JOIN2(a, b) a##b
#define CELLWRIGHT_JOIN(a, b) CELLWRIGHT_JOIN2(a, b)

extern const Core CELLWRIGHT_JOIN(core_, CELLWRIGHT_CORE);
const Core CELLWRIGHT_JOIN(core_, CELLWRIGHT_CORE) = {
    CELLWRIGHT_TEXT(CELLWRIGHT_CORE), scratch_floats, kept_floats, run,
    cross_entropy_floats, run_cross_entropy,
#ifdef CELLWRIGHT_BFLOAT16
    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
#else
    crf_floats, run_crf, crf_decode_floats, run_crf_decode, add_weighted_rows,
    matrix_product_floats, run_matrix_product};
#endif

}  // namespace cellwright

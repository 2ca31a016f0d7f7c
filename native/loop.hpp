// One time step: products and elementwise operations in the order of the program.
#pragma once

#include "batch_norm.hpp"
#include "elementwise.hpp"
#include "machine.hpp"
#include "mixtures.hpp"

namespace {

using namespace cellwright;

void copy_row(float* to, const float* from, int64_t floats, int64_t zeros) {
  std::memcpy(to, from, sizeof(float) * static_cast<size_t>(floats));
  std::memset(to + floats, 0, sizeof(float) * static_cast<size_t>(zeros));
}

// Where a row of a step's outputs begins.
int64_t output_at(const Machine& m, int64_t step, int64_t row) {
  const int64_t place = m.c.backwards ? m.c.steps - 1 - step : step;
  return (place * m.c.batch + row) * m.c.output_ld;
}

int64_t depth_of(const Machine& m, int weight) {
  return m.columns(m.p.backward ? m.p.weight_rows[weight] : m.p.weight_columns[weight]);
}

// The panels first .. last of one sum of products. Its operands are rounded already, from number
// `number` on, where they need to be.
void run_linear_panels(Machine& m, const Step& s, Range rows, int64_t number, int64_t first,
                       int64_t last) {
  Product products[kMostProducts];
  const Width width = m.p.values[s.out].width;
  const int64_t count = rows.end - rows.begin;
  const float* bias = s.arg >= 0 ? m.bias[s.arg] : nullptr;
  Start start = s.accumulate ? Start::add : bias ? Start::bias : Start::zero;
  for (int done = 0; done < s.input_count;) {
    int portion = 0;
    for (; portion < kMostProducts && done + portion < s.input_count; ++portion) {
      const int value = m.p.inputs[s.first_input + 2 * (done + portion)];
      const int weight = m.p.inputs[s.first_input + 2 * (done + portion) + 1];
      products[portion] =
          product_of(m, row_of(m, value, rows.begin), m.stride(m.p.values[value].width), count,
                     number + done + portion, m.packed[weight], depth_of(m, weight));
    }
    multiply(products, portion, count, m.columns(width), m.vectors, first, last,
             row_of(m, s.out, rows.begin), m.stride(width), start, bias, m.result_tile);
    start = Start::add;
    done += portion;
  }
}

// Rounds the operands of one sum, as numbers from `number` on.
void round_operands(Machine& m, const Step& s, Range rows, int64_t number) {
  for (int i = 0; i < s.input_count; ++i) {
    const int value = m.p.inputs[s.first_input + 2 * i];
    const int weight = m.p.inputs[s.first_input + 2 * i + 1];
    round_operand(m, row_of(m, value, rows.begin), m.stride(m.p.values[value].width),
                  rows.end - rows.begin, number + i, depth_of(m, weight));
  }
}

// Sums begin .. end, which have the same weights: a panel of them serves all before the next.
void run_linears(Machine& m, int begin, int end, int64_t active) {
  const Range rows = m.c.split_columns
                         ? Range{0, active}
                         : Range{m.rows.begin, m.rows.end < active ? m.rows.end : active};
  if (rows.end <= rows.begin) return;
  const int64_t panels = panels_of(m.columns(m.p.values[m.p.steps[begin].out].width), m.vectors);
  const Range part = m.c.split_columns ? share(panels, m.thread, m.threads) : Range{0, panels};
  const int64_t each = m.p.steps[begin].input_count;
  if (kTaken > 1)
    for (int i = begin; i < end; ++i) round_operands(m, m.p.steps[i], rows, (i - begin) * each);
  if (end == begin + 1)
    return run_linear_panels(m, m.p.steps[begin], rows, 0, part.begin, part.end);
  for (int64_t panel = part.begin; panel < part.end; ++panel)
    for (int i = begin; i < end; ++i)
      run_linear_panels(m, m.p.steps[i], rows, (i - begin) * each, panel, panel + 1);
}

constexpr int kMostTurned = 16;  // sums that are worth a look at whether they may be turned round

// Whether the sums begin .. end may be made in any order: no two of them add to the same value.
bool have_own_results(const Program& p, int begin, int end) {
  for (int i = begin; i < end; ++i)
    for (int j = begin; j < i; ++j)
      if (p.steps[i].out == p.steps[j].out) return false;
  return true;
}

// The sums of one phase from `begin` on; returns where they end. Every other time step goes through
// them from the last to the first: weights that do not all fit a cache would leave it in the order
// in which they are wanted again, and those that were last used are still there.
int run_sums(Machine& m, int begin, int64_t step, int64_t active) {
  const Program& p = m.p;
  int starts[kMostTurned + 1], count = 0, end = begin;
  while (count < kMostTurned && end < p.step_count && p.steps[end].op == Op::linear &&
         p.steps[end].phase == p.steps[begin].phase) {
    starts[count++] = end;
    end = same_weights_until(p, end);
  }
  starts[count] = end;
  const bool turned = step % 2 && count > 1 && have_own_results(p, begin, end);
  for (int i = 0; i < count; ++i) {
    const int at = turned ? count - 1 - i : i;
    run_linears(m, starts[at], starts[at + 1], active);
  }
  return end;
}

// The steps that weigh activations. Known: their bits, or 0.
template <int Known>
void run_mixture(Machine& m, const Step& s, const Span& span, const Mixture& mix, float* out,
                 float* d_theta) {
  if (s.op == Op::mix_activations) {
    float* targets[kMostTargets] = {out};
    for (int i = 1; i < s.input_count; ++i) targets[i] = const_cast<float*>(span.in[i]);
    if (s.accumulate) return mix_activations<Known, true>(targets, s.input_count, span, mix);
    return mix_activations<Known, false>(targets, s.input_count, span, mix);
  }
  if (s.op == Op::d_mix_activations)
    return mix_activations_gradient<Known>(out, s.accumulate, span, mix, d_theta, m.p.theta_count);
  if (s.op == Op::d_highway) {
    const HighwayGradients to{const_cast<float*>(span.in[1]), const_cast<float*>(span.in[2]), out,
                              s.accumulate != 0};
    return highway_gradient<Known>(to, span, mix, d_theta, m.p.theta_count);
  }
  if (s.accumulate) return highway<Known, true>(out, span, mix);
  return highway<Known, false>(out, span, mix);
}

void run_elementwise(Machine& m, const Step& s, int64_t step, int64_t first, int64_t rows) {
  const int32_t* in = m.p.inputs + s.first_input;
  const Width width =
      m.p.values[s.op == Op::write_output || s.op == Op::d_theta ? in[0] : s.out].width;
  for (int i = 0; i < s.input_count; ++i) m.inputs[i] = row_of(m, in[i], first);
  const int64_t row = m.stride(width);
  const Span span{m.inputs, s.input_count, rows * row, row, m.columns(width)};
  switch (s.op) {
    case Op::write_output:
      for (int64_t r = 0; r < rows; ++r)
        std::memcpy(m.c.output + output_at(m, step, first + r), m.inputs[0] + r * row,
                    sizeof(float) * static_cast<size_t>(m.c.hidden));
      return;
    case Op::read_output_gradient: {
      float* out = row_of(m, s.out, first);
      for (int64_t r = 0; r < rows; ++r, out += row) {
        const float* g = m.c.output_gradient + output_at(m, step, first + r);
        if (s.accumulate)
          for (int64_t i = 0; i < m.c.hidden; ++i) out[i] += g[i];
        else
          copy_row(out, g, m.c.hidden, row - m.c.hidden);
      }
      return;
    }
    case Op::d_theta: {
      float* to = m.c.theta_gradient + first * m.p.theta_count + s.arg;
      for (int64_t r = 0; r < rows; ++r)
        row_dots(to + r * m.p.theta_count, m.inputs[0] + r * row, m.inputs + 1,
                 s.input_count - 1, r * row, span.columns);
      return;
    }
    case Op::mix_activations:
    case Op::d_mix_activations:
    case Op::highway:
    case Op::d_highway: {
      const Mixture mix(s.arg, m.c.theta);
      float* d_theta = m.c.theta_gradient;
      if (d_theta) d_theta += first * m.p.theta_count;
      float* out = row_of(m, s.out, first);
      if (mix.bits == kUsual) return run_mixture<kUsual>(m, s, span, mix, out, d_theta);
      return run_mixture<0>(m, s, span, mix, out, d_theta);
    }
    case Op::norm: return norm_rows(row_of(m, s.out, first), span, s.accumulate);
    case Op::d_norm: return norm_gradient_rows(row_of(m, s.out, first), span, s.accumulate);
    default:
      if (s.accumulate)
        apply<true>(s.op, row_of(m, s.out, first), span, s.arg, m.c.theta);
      else
        apply<false>(s.op, row_of(m, s.out, first), span, s.arg, m.c.theta);
  }
}

// A batch norm reads all rows of its columns, so each thread has columns of its own. Sums go through
// the rows in order: the result does not depend on the threads.
void run_batch_norm(Machine& m, const Step& s, int64_t active) {
  const int32_t* in = m.p.inputs + s.first_input;
  const Width width = m.p.values[s.out].width;
  const int64_t row = m.stride(width);
  const Range part = share(row / kPad, m.thread, m.threads);
  const Columns columns{part.begin * kPad, part.end * kPad, active, row};
  const float epsilon = epsilon_of(s.op);
  if (s.op == Op::batch_norm || s.op == Op::damped_batch_norm)
    return batch_norm_columns(m.at[s.out], m.at[in[0]], columns, epsilon, s.accumulate);
  batch_norm_gradient_columns(m.at[s.out], m.at[in[0]], m.at[in[1]], columns, epsilon, s.accumulate);
}

// Rows that have ended take no part; their output is zero, and nobody reads what is stored of them.
void clear_ended_rows(Machine& m, int64_t step, int64_t active) {
  const int64_t first = m.rows.begin > active ? m.rows.begin : active;
  if (!m.c.output) return;
  for (int64_t r = first; r < m.rows.end; ++r)
    std::memset(m.c.output + output_at(m, step, r), 0,
                sizeof(float) * static_cast<size_t>(m.c.hidden));
}

void run_step(Machine& m, int64_t step, int64_t active) {
  const Program& p = m.p;
  const int64_t end = m.rows.end < active ? m.rows.end : active;
  for (int i = 0; i < p.step_count;) {
    if (i > 0 && m.c.split_columns && p.steps[i].phase != p.steps[i - 1].phase) wait(m.team, m.threads);
    if (p.steps[i].op == Op::linear) {
      i = run_sums(m, i, step, active);
      continue;
    }
    if (is_batch_norm(p.steps[i].op)) {  // others' rows must be there before, and in use no more after
      wait(m.team, m.threads);
      run_batch_norm(m, p.steps[i], active);
      wait(m.team, m.threads);
      ++i;
      continue;
    }
    int last = i;
    while (last < p.step_count && p.steps[last].op != Op::linear &&
           p.steps[last].phase == p.steps[i].phase)
      ++last;
    for (int64_t row = m.rows.begin; row < end; row += m.chunk_rows) {
      const int64_t rows = end - row < m.chunk_rows ? end - row : m.chunk_rows;
      for (int j = i; j < last; ++j) run_elementwise(m, p.steps[j], step, row, rows);
    }
    i = last;
  }
  if (active < m.c.batch) clear_ended_rows(m, step, active);
}

}  // namespace

// One thread's view of a call: sizes, its rows, its memory, and where values are.
#pragma once

#include <cstring>

#include "gemm.hpp"
#include "packing.hpp"
#include "program.hpp"
#include "team.hpp"

namespace {

using namespace cellwright;

constexpr int64_t kDepthFloats = 200000;    // of a weight gradient's operands taken at a time
constexpr int64_t kChunkBytes = 32 * 1024;  // of values that should stay in the first cache
constexpr int64_t kRowBlock = 63;           // rows of all time steps taken at a time
constexpr int64_t kChunkFloats = 1024;      // but an operation is worth starting only for so many

// The call's memory and sizes, worked out once per thread.
struct Machine {
  const Program& p;
  const Call& c;
  Team& team;
  int thread;
  int threads;
  int64_t ld[2];    // padded width: hidden, input
  int64_t real[2];  // true width
  int64_t widest;
  int64_t chunk_rows;
  int vectors;      // in a full panel, by the rows that one product of the loop has
  int job_vectors;  // the same for products over all time steps
  // Parts of the scratch memory.
  float** packed;
  uint64_t** seals;  // of the panels of each weight that were packed by an earlier call, or null
  float** bias;
  float* blocks;
  float* rings;
  float* chunks;
  float* operand_panels;
  float* gradient_tile;
  float* result_tile;
  float* rounded;  // operands of products, where these do not read them as they are
  int64_t rounded_ld;
  float** at;  // where each value is at this step, for row 0 (chunks: for any row)
  const float** inputs;
  Range rows;  // of the batch, that this thread takes
  int64_t* before;  // rows at work in all steps before each, and at last in all; null if always all

  int64_t columns(Width w) const { return real[static_cast<int>(w)]; }
  int64_t stride(Width w) const { return ld[static_cast<int>(w)]; }
};

int64_t most_inputs(const Program& p) {
  int64_t most = 1;
  for (int i = 0; i < p.step_count; ++i)
    if (p.steps[i].input_count > most) most = p.steps[i].input_count;
  return most;
}

int64_t value_count(const Program& p) {
  int64_t most = -1;
  for (int i = 0; i < p.step_count; ++i) {
    const Step& s = p.steps[i];
    if (s.out > most) most = s.out;
    const int stride = s.op == Op::linear ? 2 : 1;
    for (int j = 0; j < s.input_count; ++j) {
      const int v = p.inputs[s.first_input + j * stride];
      if (v > most) most = v;
    }
  }
  return most + 1;
}

// Whether the loop multiplies by the weight.
bool is_in_steps(const Program& p, int weight) {
  for (int i = 0; i < p.step_count; ++i) {
    const Step& s = p.steps[i];
    if (s.op != Op::linear) continue;
    for (int j = 0; j < s.input_count; ++j)
      if (p.inputs[s.first_input + 2 * j + 1] == weight) return true;
  }
  return false;
}

// Whether products over all time steps multiply by the weight.
bool is_in_jobs(const Program& p, int weight) {
  for (int i = 0; i < p.projection_count; ++i)
    for (int j = 0; j < p.projections[i].term_count; ++j)
      if (p.terms[p.projections[i].first_term + j].weight == weight) return true;
  for (int i = 0; i < p.input_job_count; ++i)
    for (int j = 0; j < p.input_jobs[i].term_count; ++j)
      if (p.terms[p.input_jobs[i].first_term + j].weight == weight) return true;
  return false;
}

// Vectors in a full panel of a weight: a shared weight of both kinds is packed for the loop.
int vectors_for(const Machine& m, int weight) {
  return is_in_steps(m.p, weight) ? m.vectors : m.job_vectors;
}

// How many rows a weight gradient's sum takes at a time, so that both operands fit the cache.
int64_t depth_block(const Machine& m) {
  const int64_t rows = kDepthFloats / (2 * m.widest);
  return rows < 64 ? 64 : rows > 256 ? 256 : rows;
}

void count_rows_before(Machine& m) {
  if (!m.before) return;
  m.before[0] = 0;
  for (int64_t t = 0; t < m.c.steps; ++t) m.before[t + 1] = m.before[t] + m.c.active[t];
}

// Weights that were packed stay where the caller keeps them for later calls: a number that says how
// they were packed, then for each weight the seals of its panels and the panels. With `base` null
// it only counts.
int64_t lay_out_kept(Machine& m, float* base) {
  const Program& p = m.p;
  int64_t used = kPad;
  bool as_before = false;
  if (base) {
    const int64_t way = (m.vectors * 4 + m.job_vectors) * 64 + kLanes;
    int64_t* const header = reinterpret_cast<int64_t*>(base);
    as_before = *header == way;
    *header = way;
  }
  for (int w = 0; w < p.weight_count; ++w) {
    if (!is_in_steps(p, w) && !is_in_jobs(p, w)) continue;
    const int64_t n = m.columns(p.weight_rows[w]), k = m.columns(p.weight_columns[w]);
    const int64_t seals = padded(2 * vectors_of(n));  // as many as panels could ever be
    if (base) {
      if (!as_before) std::memset(base + used, 0, sizeof(float) * static_cast<size_t>(seals));
      m.seals[w] = reinterpret_cast<uint64_t*>(base + used);
      m.packed[w] = base + used + seals;
    }
    used += seals + padded(packed_size(k, n));
  }
  return used;
}

bool same_weights(const Program& p, const Step& a, const Step& b) {
  if (a.input_count != b.input_count || p.values[a.out].width != p.values[b.out].width)
    return false;
  for (int i = 0; i < a.input_count; ++i)
    if (p.inputs[a.first_input + 2 * i + 1] != p.inputs[b.first_input + 2 * i + 1]) return false;
  return true;
}

// The end of the sums from `begin` on that follow each other and have the same weights.
int same_weights_until(const Program& p, int begin) {
  int end = begin + 1;
  while (end < p.step_count && p.steps[end].op == Op::linear &&
         p.steps[end].phase == p.steps[begin].phase &&
         same_weights(p, p.steps[begin], p.steps[end]))
    ++end;
  return end;
}

// Rows of all operands that are needed at the same time, where products need them rounded.
int64_t most_rounded_rows(const Machine& m) {
  if (kTaken == 1) return 0;
  const Program& p = m.p;
  int64_t in_loop = 0, terms = 0;
  for (int i = 0, end; i < p.step_count; i = end) {
    end = i + 1;
    if (p.steps[i].op != Op::linear) continue;
    end = same_weights_until(p, i);
    const int64_t operands = (end - i) * p.steps[i].input_count;
    if (operands > in_loop) in_loop = operands;
  }
  for (int i = 0; i < p.projection_count; ++i)
    if (p.projections[i].term_count > terms) terms = p.projections[i].term_count;
  for (int i = 0; i < p.input_job_count; ++i)
    if (p.input_jobs[i].term_count > terms) terms = p.input_jobs[i].term_count;
  if (terms > kMostProducts) terms = kMostProducts;
  const int64_t at_once = m.c.active && m.c.batch > kRowBlock ? m.c.batch : kRowBlock;
  return in_loop * m.c.batch > terms * at_once ? in_loop * m.c.batch : terms * at_once;
}

// The product of rows of A with a packed weight: of A itself, or of what it was rounded to, as number
// `number` of the operands that are needed together.
Product product_of(const Machine& m, const float* a, int64_t lda, int64_t rows, int64_t number,
                   const float* packed, int64_t depth) {
  if (kTaken == 1) return {a, lda, packed, depth};
  return {m.rounded + number * rows * m.rounded_ld, m.rounded_ld, packed, depth};
}

// Makes it so, where products do not read A itself.
void round_operand(const Machine& m, const float* a, int64_t lda, int64_t rows, int64_t number,
                   int64_t depth) {
  if (kTaken == 1) return;
  round_rows(a, lda, rows, depth, m.rounded + number * rows * m.rounded_ld, m.rounded_ld);
}

// Lays out the scratch memory; with `base` null it only counts.
int64_t lay_out(Machine& m, float* base, int thread) {
  const Program& p = m.p;
  const Call& c = m.c;
  int64_t used = 0;
  const auto take = [&](int64_t floats) {
    float* result = base ? base + used : nullptr;
    used += padded(floats);
    return result;
  };
  const auto take_pointers = [&](int64_t count) {
    return reinterpret_cast<float**>(take(count * 2));
  };
  m.packed = take_pointers(p.weight_count);
  m.seals = c.kept ? reinterpret_cast<uint64_t**>(take_pointers(p.weight_count)) : nullptr;
  m.bias = take_pointers(p.group_count);
  for (int w = 0; w < p.weight_count; ++w) {
    const int64_t n = m.columns(p.weight_rows[w]), k = m.columns(p.weight_columns[w]);
    float* memory = nullptr;
    if (!c.kept && (is_in_steps(p, w) || is_in_jobs(p, w)))
      memory = take(p.backward ? packed_size(n, k) : packed_size(k, n));
    if (base && thread == 0) m.packed[w] = memory;
  }
  for (int g = 0; g < p.group_count; ++g) {
    float* memory = take(m.stride(p.group_width[g]));
    if (base && thread == 0) m.bias[g] = memory;
  }
  if (c.kept && base && thread == 0) lay_out_kept(m, c.kept);
  m.before = c.active ? reinterpret_cast<int64_t*>(take(2 * (c.steps + 1))) : nullptr;
  if (base && thread == 0) count_rows_before(m);
  m.blocks = take(p.block_count * c.batch * m.widest);
  m.rings = take(p.backward ? p.state_count * (p.history + 1) * c.batch * m.ld[0] : 0);
  // What follows is each thread's own.
  const int64_t own_begin = used;
  for (int i = 0; i <= (base ? thread : 0); ++i) {
    m.chunks = take(p.chunk_count * m.chunk_rows * m.widest);
    m.operand_panels = take(p.backward ? packed_size(depth_block(m), m.widest) : 0);
    m.gradient_tile = take(p.backward ? taken(depth_block(m)) * kWeightRows : 0);
    m.result_tile = take(kMostTileRows * 3 * kLanes);
    m.rounded = take(most_rounded_rows(m) * m.rounded_ld);
    m.at = take_pointers(value_count(p));
    m.inputs = const_cast<const float**>(take_pointers(most_inputs(p)));
    take(64);  // threads should not write to one cache line
  }
  return base ? used : own_begin + (used - own_begin) * c.threads;
}

int64_t row_steps(const Call& c, Range rows) {
  if (!c.active) return (rows.end - rows.begin) * c.steps;
  int64_t total = 0;
  for (int64_t t = 0; t < c.steps; ++t) {
    const int64_t end = c.active[t] < rows.end ? c.active[t] : rows.end;
    if (end > rows.begin) total += end - rows.begin;
  }
  return total;
}

// The rows of one thread, so that each has its share of all rows and steps. Where rows end
// early they are sorted, longest first.
Range balanced_rows(const Call& c, int thread, int threads) {
  const int64_t total = row_steps(c, Range{0, c.batch});
  double before = 0;
  for (int i = 0; i < thread; ++i) before += c.shares ? c.shares[i] : 1.0 / threads;
  const double after = before + (c.shares ? c.shares[thread] : 1.0 / threads);
  const auto cut = [&](double share_before) {
    const double target = share_before * static_cast<double>(total);
    int64_t row = 0, sum = 0, t = c.steps;
    while (row < c.batch && static_cast<double>(sum) + 0.5 * static_cast<double>(t) < target) {
      while (c.active && t > 0 && c.active[t - 1] <= row) --t;
      sum += t;
      ++row;
    }
    return row;
  };
  return {thread == 0 ? 0 : cut(before), thread + 1 == threads ? c.batch : cut(after)};
}

Machine make_machine(const Program& p, const Call& c, Team& team, int thread) {
  Machine m{p, c, team, thread, c.threads, {}, {}, 0, 0, 0, 0, {}, {}, {}, {},
            {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  m.real[0] = c.hidden;
  m.real[1] = c.input;
  m.ld[0] = padded(c.hidden);
  m.ld[1] = padded(c.input);
  m.widest = m.ld[0] > m.ld[1] ? m.ld[0] : m.ld[1];
  // Rows a power of two apart would fight for the same few lines of the cache.
  m.rounded_ld = padded(taken(m.widest));
  if (m.rounded_ld % 512 == 0) m.rounded_ld += kPad;
  const int64_t row_bytes = (p.chunk_count + 2) * m.widest * 4;
  m.chunk_rows = kChunkBytes / row_bytes;
  const int64_t least = (kChunkFloats + m.widest - 1) / m.widest;
  if (m.chunk_rows < least) m.chunk_rows = least;
  if (m.chunk_rows > c.batch) m.chunk_rows = c.batch;
  const int64_t rows = c.split_columns ? c.batch : (c.batch + c.threads - 1) / c.threads;
  m.vectors = m.job_vectors = panel_vectors(rows);
  bool shared = false;
  for (int w = 0; w < p.weight_count; ++w) shared = shared || (is_in_steps(p, w) && is_in_jobs(p, w));
  if (!shared) m.job_vectors = 3;
  m.rows = c.split_columns ? share(c.batch, thread, c.threads)
                           : balanced_rows(c, thread, c.threads);
  return m;
}

float* stored_at(const Machine& m, int buffer, int64_t step) {
  const int64_t row = (step + m.p.stored[buffer].lead) * m.c.batch;
  return m.c.stored[buffer] + row * m.c.stored_ld[buffer];
}

// How many rows are at work in all steps together.
int64_t rows_at_work(const Machine& m) {
  return m.before ? m.before[m.c.steps] : m.c.steps * m.c.batch;
}

// Calls work(at, row, count) for the rows first .. first + depth of those at work: `count` of them
// follow each other from `row` on, counted with those that have ended, and are number `at` of these.
template <typename Work>
void each_run(const Machine& m, int64_t first, int64_t depth, Work work) {
  if (!m.before) return work(0, first, depth);
  int64_t low = 0, high = m.c.steps;  // the last step with no more than `first` rows before it
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (m.before[middle] <= first ? low : high) = middle;
  }
  for (int64_t step = low, at = 0; at < depth; ++step) {
    const int64_t row = first + at - m.before[step];
    const int64_t left = m.c.active[step] - row;
    const int64_t count = left < depth - at ? left : depth - at;
    work(at, step * m.c.batch + row, count);
    at += count;
  }
}

// A state's gradient at `index` steps after the oldest initial state.
float* ring_at(const Machine& m, int state, int64_t index) {
  const int64_t slots = m.p.history + 1;
  return m.rings + (state * slots + index % slots) * m.c.batch * m.ld[0];
}

void find_values(Machine& m, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const Value& v = m.p.values[i];
    switch (v.place) {
      case Place::stored: m.at[i] = stored_at(m, v.index, step - v.shift); break;
      case Place::block: m.at[i] = m.blocks + v.index * m.c.batch * m.widest; break;
      case Place::chunk: m.at[i] = m.chunks + v.index * m.chunk_rows * m.widest; break;
      case Place::ring: m.at[i] = ring_at(m, v.index, step + m.p.history - v.shift); break;
      case Place::constant: m.at[i] = const_cast<float*>(m.c.constants[v.index]); break;
    }
  }
}

float* row_of(const Machine& m, int value, int64_t row) {
  const Value& v = m.p.values[value];
  if (v.place == Place::chunk) return m.at[value];
  return m.at[value] + row * m.stride(v.width);
}

}  // namespace

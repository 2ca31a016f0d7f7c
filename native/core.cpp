// The interpreter: runs a cell's program over all time steps, forward or backward.
//
// This file is compiled once per instruction set. It uses no templates of the standard
// library, so that no code for a newer processor can end up in a shared symbol.
#include <time.h>

#include <cstring>

#include "elementwise.hpp"
#include "gemm.hpp"
#include "program.hpp"

#ifndef CELLWRIGHT_CORE
#error "define CELLWRIGHT_CORE as the name of this instruction set"
#endif

namespace {

using namespace cellwright;

constexpr int64_t kDepthFloats = 200000;  // of a weight gradient's operands taken at a time
constexpr int64_t kRowBlock = 63;         // rows of all time steps taken at a time
constexpr int64_t kPieceTiles = 80;       // tiles of a weight gradient taken at a time
constexpr int64_t kChunkBytes = 32 * 1024;  // of values that should stay in the first cache
constexpr int64_t kChunkFloats = 1024;      // but an operation is worth starting only for so many

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
  float** bias;
  float* blocks;
  float* rings;
  float* chunks;
  float* operand_panels;
  float* gradient_tile;
  float* result_tile;
  float** at;  // where each value is at this step, for row 0 (chunks: for any row)
  const float** inputs;
  Range rows;  // of the batch, that this thread takes

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
  m.bias = take_pointers(p.group_count);
  for (int w = 0; w < p.weight_count; ++w) {
    const int64_t n = m.columns(p.weight_rows[w]), k = m.columns(p.weight_columns[w]);
    float* memory = nullptr;
    if (is_in_steps(p, w) || is_in_jobs(p, w))
      memory = take(p.backward ? packed_size(n, k) : packed_size(k, n));
    if (base && thread == 0) m.packed[w] = memory;
  }
  for (int g = 0; g < p.group_count; ++g) {
    float* memory = take(m.stride(p.group_width[g]));
    if (base && thread == 0) m.bias[g] = memory;
  }
  m.blocks = take(p.block_count * c.batch * m.widest);
  m.rings = take(p.backward ? p.state_count * (p.history + 1) * c.batch * m.ld[0] : 0);
  // What follows is each thread's own.
  const int64_t own_begin = used;
  for (int i = 0; i <= (base ? thread : 0); ++i) {
    m.chunks = take(p.chunk_count * m.chunk_rows * m.widest);
    m.operand_panels = take(p.backward ? packed_size(depth_block(m), m.widest) : 0);
    m.gradient_tile = take(p.backward ? depth_block(m) * kWeightRows : 0);
    m.result_tile = take(kMostTileRows * 3 * kLanes);
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
            {}, {}, {}, {}, {}, {}, {}};
  m.real[0] = c.hidden;
  m.real[1] = c.input;
  m.ld[0] = padded(c.hidden);
  m.ld[1] = padded(c.input);
  m.widest = m.ld[0] > m.ld[1] ? m.ld[0] : m.ld[1];
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

// -- before and after the loop ---------------------------------------------------------

void pack_weights(Machine& m) {
  const Program& p = m.p;
  int64_t turn = 0;
  for (int w = 0; w < p.weight_count; ++w) {
    if (!m.packed[w]) continue;
    const int64_t n = m.columns(p.weight_rows[w]), k = m.columns(p.weight_columns[w]);
    const int64_t columns = p.backward ? k : n;
    const int vectors = vectors_for(m, w);
    for (int64_t panel = 0; panel < panels_of(columns, vectors); ++panel) {
      if (turn++ % m.threads != m.thread) continue;
      if (p.backward)
        pack(m.c.weights[w], k, 1, n, k, vectors, panel, panel + 1, m.packed[w]);
      else
        pack(m.c.weights[w], 1, k, k, n, vectors, panel, panel + 1, m.packed[w]);
    }
  }
}

void add_biases(Machine& m) {
  for (int g = m.thread; g < m.p.group_count; g += m.threads) {
    const int64_t n = m.columns(m.p.group_width[g]);
    std::memset(m.bias[g], 0, sizeof(float) * static_cast<size_t>(padded(n)));
    for (int b = 0; b < m.p.bias_count; ++b)
      if (m.p.bias_group[b] == g)
        for (int64_t i = 0; i < n; ++i) m.bias[g][i] += m.c.biases[b][i];
  }
}

void copy_row(float* to, const float* from, int64_t floats, int64_t zeros) {
  std::memcpy(to, from, sizeof(float) * static_cast<size_t>(floats));
  std::memset(to + floats, 0, sizeof(float) * static_cast<size_t>(zeros));
}

void set_initial_states(Machine& m) {
  const int64_t h = m.c.hidden, ld = m.ld[0];
  for (int s = 0; s < m.p.state_count; ++s)
    for (int k = 1; k <= m.p.history; ++k) {
      const float* from = m.c.initial[s * m.p.history + k - 1];
      float* to = stored_at(m, s, -k);
      for (int64_t r = m.rows.begin; r < m.rows.end; ++r)
        copy_row(to + r * ld, from + r * h, h, ld - h);
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

// out[rows first …] = start + the sum over terms, for `count` rows of all time steps at once.
void multiply_terms(Machine& m, const Term* terms, int term_count, int64_t first, int64_t count,
                    int64_t columns, float* out, int64_t ldc, Start start, const float* bias) {
  const Program& p = m.p;
  Product products[64];
  for (int done = 0; done < term_count;) {
    int portion = 0;
    for (; portion < 64 && done + portion < term_count; ++portion) {
      const Term& t = terms[done + portion];
      const int64_t lda = m.c.stored_ld[t.stored];
      const Width* depth = p.backward ? p.weight_rows : p.weight_columns;
      products[portion] = {stored_at(m, t.stored, -t.shift) + first * lda, lda,
                           m.packed[t.weight], m.columns(depth[t.weight])};
    }
    multiply(products, portion, count, columns, m.job_vectors, 0, panels_of(columns, m.job_vectors),
             out + first * ldc, ldc, start, bias, m.result_tile);
    start = Start::add;
    done += portion;
  }
}

int64_t row_blocks(const Machine& m) {
  return (m.c.steps * m.c.batch + kRowBlock - 1) / kRowBlock;
}

int64_t rows_in_block(const Machine& m, int64_t block) {
  const int64_t left = m.c.steps * m.c.batch - block * kRowBlock;
  return left < kRowBlock ? left : kRowBlock;
}

void project_inputs(Machine& m) {
  const Program& p = m.p;
  for (int64_t block; (block = claim_next(m.team, kProjections)) < row_blocks(m);)
    for (int i = 0; i < p.projection_count; ++i) {
      const Projection& job = p.projections[i];
      const float* bias = job.group >= 0 ? m.bias[job.group] : nullptr;
      multiply_terms(m, p.terms + job.first_term, job.term_count, block * kRowBlock,
                     rows_in_block(m, block), m.columns(p.stored[job.stored].width),
                     stored_at(m, job.stored, 0), m.c.stored_ld[job.stored],
                     bias ? Start::bias : Start::zero, bias);
    }
}

void copy_tile(float* to, int64_t ldt, const float* from, int64_t ldf, int rows, int64_t columns) {
  for (int r = 0; r < rows; ++r)
    std::memcpy(to + r * ldt, from + r * ldf, sizeof(float) * static_cast<size_t>(columns));
}

// Transposes a tile's gradients: kWeightRows numbers for each k, zeros where it has fewer rows.
void pack_gradient_tile(float* to, const float* from, int64_t ld, int64_t depth, int height) {
  if (height == kWeightRows) {
    for (int64_t i = 0; i < depth; ++i) {
      __builtin_prefetch(from + i * ld + 16);  // the tiles to the right come next
      std::memcpy(to + i * kWeightRows, from + i * ld, sizeof(float) * kWeightRows);
    }
    return;
  }
  for (int64_t i = 0; i < depth; ++i)
    for (int r = 0; r < kWeightRows; ++r)
      to[i * kWeightRows + r] = r < height ? from[i * ld + r] : 0.0f;
}

// Adds one job's part to some tiles of its weight's gradient, for a block of time steps whose
// operand is packed already.
void add_weight_gradient(Machine& m, const WeightJob& job, Range tiles, int64_t first,
                         int64_t depth, bool add) {
  const int64_t n = m.columns(m.p.weight_rows[job.weight]);
  const int64_t k = m.columns(m.p.weight_columns[job.weight]);
  const int64_t ldg = m.c.stored_ld[job.gradient];
  const float* gradient = stored_at(m, job.gradient, 0) + first * ldg;
  float* result = m.c.weight_gradients[job.weight];
  for (int64_t tile_number = tiles.begin; tile_number < tiles.end; ++tile_number) {
    const int64_t row = tile_number * kWeightRows;
    const int height = static_cast<int>(n - row < kWeightRows ? n - row : kWeightRows);
    pack_gradient_tile(m.gradient_tile, gradient + row, ldg, depth, height);
    for (int64_t panel = 0; panel < panels_of(k, 3); ++panel) {
      const int64_t column = panel * 3 * kLanes;
      const int64_t wide = k - column < 3 * kLanes ? k - column : 3 * kLanes;
      const int vectors = static_cast<int>(vectors_of(wide));
      const bool whole = height == kWeightRows && wide == vectors * kLanes;
      float* out = whole ? result + row * k + column : m.result_tile;
      const int64_t ldc = whole ? k : 3 * kLanes;
      if (!whole && add) copy_tile(out, ldc, result + row * k + column, k, height, wide);
      const auto run_tile = vectors == 3   ? tile_transposed<3>
                            : vectors == 2 ? tile_transposed<2>
                                           : tile_transposed<1>;
      run_tile(m.gradient_tile, m.operand_panels + column * depth, depth, out, ldc, add);
      if (!whole) copy_tile(result + row * k + column, k, out, ldc, height, wide);
    }
  }
}

int64_t tiles_of(const Machine& m, const WeightJob& job) {
  return (m.columns(m.p.weight_rows[job.weight]) + kWeightRows - 1) / kWeightRows;
}

bool is_first_of_weight(const Program& p, int begin, int job) {
  for (int i = begin; i < job; ++i)
    if (p.weight_jobs[i].weight == p.weight_jobs[job].weight) return false;
  return true;
}

// One piece of a bundle of jobs: as many of `pieces` parts of each weight's tiles.
void weight_gradient_piece(Machine& m, int begin, int end, int64_t piece, int64_t pieces) {
  const WeightJob* jobs = m.p.weight_jobs;
  const int64_t total = m.c.steps * m.c.batch;
  for (int first_job = begin, next; first_job < end; first_job = next) {
    const WeightJob& head = jobs[first_job];
    next = first_job + 1;
    while (next < end && jobs[next].operand == head.operand && jobs[next].shift == head.shift)
      ++next;
    const int64_t lda = m.c.stored_ld[head.operand];
    const int64_t k = m.columns(m.p.weight_columns[head.weight]);
    const float* operand = stored_at(m, head.operand, -head.shift);
    const int64_t block = depth_block(m);
    for (int64_t first = 0; first < total; first += block) {
      const int64_t depth = total - first < block ? total - first : block;
      pack_rows(operand + first * lda, lda, depth, k, 3, m.operand_panels);
      for (int j = first_job; j < next; ++j) {
        if (!m.c.weight_gradients[jobs[j].weight]) continue;
        const bool add = first > 0 || !is_first_of_weight(m.p, begin, j);
        const int64_t tiles = tiles_of(m, jobs[j]);
        const Range mine = {tiles * piece / pieces, tiles * (piece + 1) / pieces};
        add_weight_gradient(m, jobs[j], mine, first, depth, add);
      }
    }
  }
}

void bias_gradient(Machine& m, const BiasJob& job) {
  const Program& p = m.p;
  const int64_t total = m.c.steps * m.c.batch;
  constexpr int64_t kBlock = 64;  // partial sums keep rounding errors small
  bool wanted = false;
  for (int b = 0; b < p.bias_count; ++b)
    wanted = wanted || (p.bias_group[b] == job.group && m.c.bias_gradients[b]);
  if (!wanted) return;
  const int64_t n = m.columns(p.group_width[job.group]);
  const int64_t ld = m.c.stored_ld[job.gradient];
  float* sums = m.operand_panels;
  float* partial = sums + padded(n);
  std::memset(sums, 0, sizeof(float) * static_cast<size_t>(padded(n)));
  const float* g = stored_at(m, job.gradient, 0);
  for (int64_t first = 0; first < total; first += kBlock) {
    const int64_t last = first + kBlock < total ? first + kBlock : total;
    std::memset(partial, 0, sizeof(float) * static_cast<size_t>(padded(n)));
    for (int64_t i = first; i < last; ++i)
      for (int64_t j = 0; j < n; j += kLanes)
        store(partial + j, load(partial + j) + load(g + i * ld + j));
    for (int64_t j = 0; j < n; j += kLanes) store(sums + j, load(sums + j) + load(partial + j));
  }
  for (int b = 0; b < p.bias_count; ++b)
    if (p.bias_group[b] == job.group && m.c.bias_gradients[b])
      std::memcpy(m.c.bias_gradients[b], sums, sizeof(float) * static_cast<size_t>(n));
}

void input_gradient_block(Machine& m, const InputJob& job, int64_t block) {
  const Program& p = m.p;
  multiply_terms(m, p.terms + job.first_term, job.term_count, block * kRowBlock,
                 rows_in_block(m, block), m.c.input, stored_at(m, p.input_gradient, -job.shift),
                 m.c.stored_ld[p.input_gradient], job.accumulate ? Start::add : Start::zero,
                 nullptr);
}

// All gradients that are sums over time: weights, biases and x.
void collect_gradients(Machine& m) {
  const Program& p = m.p;
  int64_t passed = 0;  // pieces before the ones at hand; all threads count alike
  int64_t mine = claim_next(m.team, kGradients);
  const auto take = [&](int64_t pieces, auto work) {
    for (; mine < passed + pieces; mine = claim_next(m.team, kGradients)) work(mine - passed);
    passed += pieces;
  };
  for (int begin = 0, end; begin < p.weight_job_count; begin = end) {
    int64_t tiles = 0;
    for (end = begin; end < p.weight_job_count &&
                      p.weight_jobs[end].bundle == p.weight_jobs[begin].bundle;
         ++end)
      if (is_first_of_weight(p, begin, end)) tiles += tiles_of(m, p.weight_jobs[end]);
    const int64_t pieces = (tiles + kPieceTiles - 1) / kPieceTiles;
    take(pieces, [&, begin, end](int64_t piece) {
      weight_gradient_piece(m, begin, end, piece, pieces);
    });
  }
  take(p.bias_job_count, [&](int64_t piece) { bias_gradient(m, p.bias_jobs[piece]); });
  if (p.input_gradient < 0) return;
  for (int j = 0; j < p.input_job_count; ++j) {
    if (j > 0) wait(m.team, m.threads);  // another shift writes the same rows
    take(row_blocks(m), [&](int64_t block) { input_gradient_block(m, p.input_jobs[j], block); });
  }
}

// -- the loop --------------------------------------------------------------------------

// The panels first .. last of one sum of products.
void run_linear_panels(Machine& m, const Step& s, Range rows, int64_t first, int64_t last) {
  Product products[64];
  const Width width = m.p.values[s.out].width;
  const float* bias = s.arg >= 0 ? m.bias[s.arg] : nullptr;
  Start start = s.accumulate ? Start::add : bias ? Start::bias : Start::zero;
  for (int done = 0; done < s.input_count;) {
    int portion = 0;
    for (; portion < 64 && done + portion < s.input_count; ++portion) {
      const int value = m.p.inputs[s.first_input + 2 * (done + portion)];
      const int weight = m.p.inputs[s.first_input + 2 * (done + portion) + 1];
      const int64_t depth =
          m.columns(m.p.backward ? m.p.weight_rows[weight] : m.p.weight_columns[weight]);
      products[portion] = {row_of(m, value, rows.begin), m.stride(m.p.values[value].width),
                           m.packed[weight], depth};
    }
    multiply(products, portion, rows.end - rows.begin, m.columns(width), m.vectors, first, last,
             row_of(m, s.out, rows.begin), m.stride(width), start, bias, m.result_tile);
    start = Start::add;
    done += portion;
  }
}

bool same_weights(const Program& p, const Step& a, const Step& b) {
  if (a.input_count != b.input_count || p.values[a.out].width != p.values[b.out].width)
    return false;
  for (int i = 0; i < a.input_count; ++i)
    if (p.inputs[a.first_input + 2 * i + 1] != p.inputs[b.first_input + 2 * i + 1]) return false;
  return true;
}

// Sums begin .. end, which have the same weights: a panel of them serves all before the next.
void run_linears(Machine& m, int begin, int end, int64_t active) {
  const Range rows = m.c.split_columns
                         ? Range{0, active}
                         : Range{m.rows.begin, m.rows.end < active ? m.rows.end : active};
  const int64_t panels = panels_of(m.columns(m.p.values[m.p.steps[begin].out].width), m.vectors);
  const Range part = m.c.split_columns ? share(panels, m.thread, m.threads) : Range{0, panels};
  if (end == begin + 1)
    return run_linear_panels(m, m.p.steps[begin], rows, part.begin, part.end);
  for (int64_t panel = part.begin; panel < part.end; ++panel)
    for (int i = begin; i < end; ++i)
      run_linear_panels(m, m.p.steps[i], rows, panel, panel + 1);
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
        std::memcpy(m.c.output + (step * m.c.batch + first + r) * m.c.hidden,
                    m.inputs[0] + r * row, sizeof(float) * static_cast<size_t>(m.c.hidden));
      return;
    case Op::read_output_gradient: {
      float* out = row_of(m, s.out, first);
      for (int64_t r = 0; r < rows; ++r, out += row) {
        const float* g = m.c.output_gradient + (step * m.c.batch + first + r) * m.c.hidden;
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
    case Op::norm: return norm_rows(row_of(m, s.out, first), span, s.accumulate);
    case Op::d_norm: return norm_gradient_rows(row_of(m, s.out, first), span, s.accumulate);
    default:
      if (s.accumulate)
        apply<true>(s.op, row_of(m, s.out, first), span, s.arg, m.c.theta);
      else
        apply<false>(s.op, row_of(m, s.out, first), span, s.arg, m.c.theta);
  }
}

// Rows that have ended take no part; what later sums read of them must be zero.
void clear_ended_rows(Machine& m, int64_t step, int64_t active) {
  const int64_t first = m.rows.begin > active ? m.rows.begin : active;
  if (first >= m.rows.end) return;
  for (int i = 0; i < m.p.step_count; ++i) {
    const Step& s = m.p.steps[i];
    if (s.op == Op::write_output) {
      std::memset(m.c.output + (step * m.c.batch + first) * m.c.hidden, 0,
                  sizeof(float) * static_cast<size_t>((m.rows.end - first) * m.c.hidden));
    } else if (s.op != Op::d_theta) {
      const Value& v = m.p.values[s.out];
      if (v.place != Place::stored || v.shift != 0 || v.index == m.p.input_gradient) continue;
      const int64_t row = m.stride(v.width);
      std::memset(m.at[s.out] + first * row, 0,
                  sizeof(float) * static_cast<size_t>((m.rows.end - first) * row));
    }
  }
}

void run_step(Machine& m, int64_t step, int64_t active) {
  const Program& p = m.p;
  const int64_t end = m.rows.end < active ? m.rows.end : active;
  for (int i = 0; i < p.step_count;) {
    if (i > 0 && m.c.split_columns && p.steps[i].phase != p.steps[i - 1].phase) wait(m.team, m.threads);
    if (p.steps[i].op == Op::linear) {
      int next = i + 1;
      while (next < p.step_count && p.steps[next].op == Op::linear &&
             p.steps[next].phase == p.steps[i].phase &&
             same_weights(p, p.steps[i], p.steps[next]))
        ++next;
      run_linears(m, i, next, active);
      i = next;
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
const Core CELLWRIGHT_JOIN(core_, CELLWRIGHT_CORE) = {CELLWRIGHT_TEXT(CELLWRIGHT_CORE),
                                                      scratch_floats, run};

}  // namespace cellwright

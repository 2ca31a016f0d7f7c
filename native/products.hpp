// Products over all time steps at once: those with x before the loop, and those that the
// gradients of weights, biases and x are, after it.
#pragma once

#include "machine.hpp"
#include "pieces.hpp"
#include "seal.hpp"

namespace {

using namespace cellwright;

constexpr int64_t kPieceTiles = 80;  // tiles of a weight gradient taken at a time

// Whether an earlier call left this panel of a weight as it would be packed now.
bool is_packed(Machine& m, int weight, int64_t panel, int vectors) {
  if (!m.seals) return false;
  const int64_t n = m.columns(m.p.weight_rows[weight]);
  const int64_t k = m.columns(m.p.weight_columns[weight]);
  const int64_t begin = panel * vectors * kLanes;
  const int64_t rows = n - begin < vectors * kLanes ? n - begin : vectors * kLanes;
  const uint64_t now = seal_of(m.c.weights[weight] + begin * k, rows * k);
  const bool same = m.seals[weight][panel] == now;
  m.seals[weight][panel] = now;
  return same;
}

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
      else if (!is_packed(m, w, panel, vectors))
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

// out[rows first …] = start + the sum over terms, for `count` rows of all time steps at once.
void multiply_terms(Machine& m, const Term* terms, int term_count, int64_t first, int64_t count,
                    int64_t columns, float* out, int64_t ldc, Start start, const float* bias) {
  const Program& p = m.p;
  Product products[kMostProducts];
  for (int done = 0; done < term_count;) {
    int portion = 0;
    for (; portion < kMostProducts && done + portion < term_count; ++portion) {
      const Term& t = terms[done + portion];
      const int64_t lda = m.c.stored_ld[t.stored];
      const float* const a = stored_at(m, t.stored, -t.shift) + first * lda;
      const int64_t depth =
          m.columns(p.backward ? p.weight_rows[t.weight] : p.weight_columns[t.weight]);
      round_operand(m, a, lda, count, portion, depth);
      products[portion] = product_of(m, a, lda, count, portion, m.packed[t.weight], depth);
    }
    multiply(products, portion, count, columns, m.job_vectors, 0, panels_of(columns, m.job_vectors),
             out + first * ldc, ldc, start, bias, m.result_tile);
    start = Start::add;
    done += portion;
  }
}

// Blocks of rows at work that follow each other: where rows end early, those of one step.
int64_t row_blocks(const Machine& m) {
  return m.before ? m.c.steps : (m.c.steps * m.c.batch + kRowBlock - 1) / kRowBlock;
}

Range rows_in_block(const Machine& m, int64_t block) {
  if (m.before) return {block * m.c.batch, block * m.c.batch + m.c.active[block]};
  const int64_t begin = block * kRowBlock, all = m.c.steps * m.c.batch;
  return {begin, begin + kRowBlock < all ? begin + kRowBlock : all};
}

// A sum without terms is its bias in every row, or zero.
void repeat_bias(Machine& m, const Projection& job, int64_t first, int64_t count) {
  const int64_t ld = m.c.stored_ld[job.stored];
  float* row = stored_at(m, job.stored, 0) + first * ld;
  for (int64_t i = 0; i < count; ++i, row += ld) {
    if (job.group >= 0)
      std::memcpy(row, m.bias[job.group], sizeof(float) * static_cast<size_t>(ld));
    else
      std::memset(row, 0, sizeof(float) * static_cast<size_t>(ld));
  }
}

void project_rows(Machine& m, const Projection& job, Range rows) {
  const float* bias = job.group >= 0 ? m.bias[job.group] : nullptr;
  if (job.term_count == 0) return repeat_bias(m, job, rows.begin, rows.end - rows.begin);
  multiply_terms(m, m.p.terms + job.first_term, job.term_count, rows.begin, rows.end - rows.begin,
                 m.columns(m.p.stored[job.stored].width), stored_at(m, job.stored, 0),
                 m.c.stored_ld[job.stored], bias ? Start::bias : Start::zero, bias);
}

// Blocks of rows are handed out with all their projections, whose operands are the same, unless there
// are too few blocks for all threads.
void project_inputs(Machine& m) {
  const int64_t blocks = row_blocks(m), jobs = m.p.projection_count;
  const int64_t together = m.threads > 1 && blocks < 2 * m.threads ? 1 : jobs;
  for (int64_t first; (first = claim_next(m.team, kProjections) * together) < blocks * jobs;)
    for (int64_t piece = first; piece < first + together; ++piece)
      project_rows(m, m.p.projections[piece % jobs], rows_in_block(m, piece / jobs));
}

// Adds one job's part to some tiles of its weight's gradient, for a block of time steps whose
// operand is packed already.
void add_weight_gradient(Machine& m, const WeightJob& job, Range tiles, int64_t first,
                         int64_t depth, bool add) {
  const int64_t n = m.columns(m.p.weight_rows[job.weight]);
  const int64_t k = m.columns(m.p.weight_columns[job.weight]);
  const int64_t ldg = m.c.stored_ld[job.gradient];
  const float* gradient = stored_at(m, job.gradient, 0);
  float* result = m.c.weight_gradients[job.weight];
  for (int64_t tile_number = tiles.begin; tile_number < tiles.end; ++tile_number) {
    const int64_t row = tile_number * kWeightRows;
    const int height = static_cast<int>(n - row < kWeightRows ? n - row : kWeightRows);
    each_run(m, first, depth, [&](int64_t at, int64_t from, int64_t count) {
      pack_gradient_tile(m.gradient_tile, at, gradient + from * ldg + row, ldg, count, height);
    });
    for (int64_t panel = 0; panel < panels_of(k, 3); ++panel)
      add_gradient_tile(m.gradient_tile, m.operand_panels, depth, k, panel, height,
                        result + row * k, add, m.result_tile);
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
  const int64_t total = rows_at_work(m);
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
      each_run(m, first, depth, [&](int64_t at, int64_t from, int64_t count) {
        pack_some_rows(operand + from * lda, lda, at, count, depth, k, 3, m.operand_panels);
      });
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
  const int64_t total = rows_at_work(m);
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
    const int64_t depth = total - first < kBlock ? total - first : kBlock;
    std::memset(partial, 0, sizeof(float) * static_cast<size_t>(padded(n)));
    each_run(m, first, depth, [&](int64_t, int64_t from, int64_t count) {
      for (int64_t i = from; i < from + count; ++i)
        for (int64_t j = 0; j < n; j += kLanes)
          store(partial + j, load(partial + j) + load(g + i * ld + j));
    });
    for (int64_t j = 0; j < n; j += kLanes) store(sums + j, load(sums + j) + load(partial + j));
  }
  for (int b = 0; b < p.bias_count; ++b)
    if (p.bias_group[b] == job.group && m.c.bias_gradients[b])
      std::memcpy(m.c.bias_gradients[b], sums, sizeof(float) * static_cast<size_t>(n));
}

void input_gradient_block(Machine& m, const InputJob& job, int64_t block) {
  const Program& p = m.p;
  const Range rows = rows_in_block(m, block);
  const int64_t ld = m.c.stored_ld[p.input_gradient];
  float* out = stored_at(m, p.input_gradient, -job.shift);
  multiply_terms(m, p.terms + job.first_term, job.term_count, rows.begin, rows.end - rows.begin,
                 m.c.input, out, ld, job.accumulate ? Start::add : Start::zero, nullptr);
  if (m.before && !job.accumulate)  // else whoever called has set them to zero
    std::memset(out + rows.end * ld, 0,
                sizeof(float) * static_cast<size_t>(((block + 1) * m.c.batch - rows.end) * ld));
}

// All gradients that are sums over time: weights, biases and x.
void collect_gradients(Machine& m) {
  const Program& p = m.p;
  Pieces pieces_left(m.team, kGradients);
  for (int begin = 0, end; begin < p.weight_job_count; begin = end) {
    int64_t tiles = 0;
    for (end = begin; end < p.weight_job_count &&
                      p.weight_jobs[end].bundle == p.weight_jobs[begin].bundle;
         ++end)
      if (is_first_of_weight(p, begin, end)) tiles += tiles_of(m, p.weight_jobs[end]);
    const int64_t pieces = (tiles + kPieceTiles - 1) / kPieceTiles;
    pieces_left.take(pieces, [&, begin, end](int64_t piece) {
      weight_gradient_piece(m, begin, end, piece, pieces);
    });
  }
  pieces_left.take(p.bias_job_count, [&](int64_t piece) { bias_gradient(m, p.bias_jobs[piece]); });
  if (p.input_gradient < 0) return;
  for (int j = 0; j < p.input_job_count; ++j) {
    if (j > 0) wait(m.team, m.threads);  // another shift writes the same rows
    pieces_left.take(row_blocks(m), [&](int64_t block) { input_gradient_block(m, p.input_jobs[j], block); });
  }
}

}  // namespace

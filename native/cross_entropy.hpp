// Cross-entropy over a vocabulary: scores, losses and all gradients of a few rows at a time,
// while the scores are still in the cache.
//
// For each chunk of rows the threads share out, with a meeting after each stage:
//   1. words:  S = H · Wᵀ + b
//   2. rows:   each row's largest score and the sum of its exponentials; its loss
//   3. words:  S becomes the gradient by the scores; dW += Sᵀ · H; db += the sums of S
//   4. rows:   dH = S · W
// Every number is summed in one order, so the result does not depend on who computed it.
#pragma once

#include <cmath>
#include <cstring>

#include "depth_blocks.hpp"
#include "gemm.hpp"
#include "pieces.hpp"

namespace {

using namespace cellwright;

constexpr int64_t kChunkRows = 378;     // of hidden vectors; a multiple of the tiles' heights
constexpr int64_t kGradientRows = 189;  // taken at a time in stage 4, at most
constexpr int64_t kScorePanels = 8;     // taken at a time in stage 1
constexpr int64_t kWordBlock = 256;     // taken at a time in stage 3
constexpr int64_t kRoundedRows = 63;    // taken at a time before stage 1, where H is rounded
constexpr int64_t kRoundedFloats = (kDepth / kTaken + kPad - 1) / kPad * kPad;  // of a row of S

// A call with its share of the scratch memory.
struct Vocabulary {
  const CrossEntropy& c;
  Pieces pieces;
  int thread;
  int64_t ld;         // floats from one row of scores to the next
  float* columns;     // the weights, packed for stage 1
  float* rows;        // the weights, packed for stage 4, block by block
  float* bias;        // padded
  float* scores;      // kChunkRows rows
  float* largest;     // of each row of the chunk
  float* scale;       // of each row of the chunk: 1 / (sum of exponentials * all rows)
  float* operand;     // H of the chunk, packed for dW, block by block
  float* gradients;   // tiles of S for dW, of this thread
  float* result;      // spare memory for tiles at the edge, of this thread
  float* hidden;      // H of the chunk, where products need it rounded
  int64_t hidden_ld;
  float* rounded;     // S of a part of the chunk for a block of words, of this thread
};

struct Part {
  int64_t number, count;
};

bool wants_gradients(const CrossEntropy& c) { return c.d_hidden || c.d_weight || c.d_bias; }

// Rows a power of two apart would fight for the same few lines of the cache.
int64_t score_stride(int64_t words) {
  const int64_t floats = padded(words);
  return floats % 512 == 0 ? floats + kPad : floats;
}

int64_t lay_out_vocabulary(Vocabulary& v, float* memory) {
  const CrossEntropy& c = v.c;
  int64_t used = 0;
  const auto take = [&](int64_t floats) {
    float* const place = memory + used;
    used += padded(floats);
    return place;
  };
  const bool gradients = wants_gradients(c);
  v.columns = take(packed_size(c.width, c.words));
  v.rows = take(c.d_hidden ? packed_size(c.words, c.width) : 0);
  v.bias = take(v.ld);
  v.scores = take(kChunkRows * v.ld);
  v.largest = take(kChunkRows);
  v.scale = take(kChunkRows);
  v.operand = take(c.d_weight ? packed_size(kChunkRows, c.width) : 0);
  const int64_t tile = gradients ? padded(kDepth * kWordBlock) : 0;
  const int64_t spare = kMostTileRows * 3 * kLanes;
  v.gradients = take(tile * c.threads) + v.thread * tile;
  v.result = take(padded(spare) * c.threads) + v.thread * padded(spare);
  v.hidden = take(kTaken > 1 ? kChunkRows * v.hidden_ld : 0);
  const int64_t rounded = kTaken > 1 && c.d_hidden ? kGradientRows * kRoundedFloats : 0;
  v.rounded = take(rounded * c.threads) + v.thread * rounded;
  return used;
}

Vocabulary make_vocabulary(const CrossEntropy& c, Team& team, int thread) {
  return {c,       Pieces(team, kGradients), thread,  score_stride(c.words), nullptr, nullptr,
          nullptr, nullptr,                  nullptr, nullptr,               nullptr, nullptr,
          nullptr, nullptr,                  padded(taken(c.width)),         nullptr};
}

void pack_vocabulary(Vocabulary& v) {
  const CrossEntropy& c = v.c;
  const Blocks widths(c.width), words(c.words);
  v.pieces.take(panels_of(c.words, kPanel), [&](int64_t panel) {
    for (int64_t block = 0; block < widths.count; ++block)
      pack(c.weight + widths.begin(block), 1, c.width, widths.size(block), c.words, kPanel, panel,
           panel + 1, v.columns + packed_size(widths.begin(block), c.words));
  });
  if (c.d_hidden)
    v.pieces.take(words.count, [&](int64_t block) {
      const int64_t first = words.begin(block);
      pack_rows(c.weight + first * c.width, c.width, words.size(block), c.width, kPanel,
                v.rows + packed_size(first, c.width));
    });
  v.pieces.take(1, [&](int64_t) {
    std::memset(v.bias, 0, sizeof(float) * static_cast<size_t>(v.ld));
    if (c.bias) std::memcpy(v.bias, c.bias, sizeof(float) * static_cast<size_t>(c.words));
  });
}

void pack_chunk(Vocabulary& v, int64_t first, int64_t count) {
  const int64_t width = v.c.width;
  const Blocks rows(count);
  for (int64_t block = 0; block < rows.count; ++block)
    pack_rows(v.c.hidden + (first + rows.begin(block)) * width, width, rows.size(block), width,
              kPanel, v.operand + packed_size(rows.begin(block), width));
}

// H for stage 1, for a few rows, where products need it rounded.
void round_chunk(Vocabulary& v, int64_t first, int64_t count, int64_t piece) {
  const int64_t begin = piece * kRoundedRows, width = v.c.width;
  const int64_t rows = count - begin < kRoundedRows ? count - begin : kRoundedRows;
  round_rows(v.c.hidden + (first + begin) * width, width, rows, width,
             v.hidden + begin * v.hidden_ld, v.hidden_ld);
}

// Stage 1, for a few panels of words.
void score_words(Vocabulary& v, int64_t first, int64_t count, int64_t piece) {
  const CrossEntropy& c = v.c;
  const Blocks widths(c.width);
  const int64_t panels = panels_of(c.words, kPanel);
  const int64_t end = (piece + 1) * kScorePanels < panels ? (piece + 1) * kScorePanels : panels;
  for (int64_t panel = piece * kScorePanels; panel < end; ++panel)
    for (int64_t block = 0; block < widths.count; ++block) {
      const int64_t begin = widths.begin(block);
      const float* const packed = v.columns + packed_size(begin, c.words);
      const Product product =
          kTaken == 1
              ? Product{c.hidden + first * c.width + begin, c.width, packed, widths.size(block)}
              : Product{v.hidden + begin / kTaken, v.hidden_ld, packed, widths.size(block)};
      multiply(&product, 1, count, c.words, kPanel, panel, panel + 1, v.scores, v.ld,
               block > 0 ? Start::add : Start::bias, v.bias, v.result);
    }
}

// Stage 2, for one row.
void lose(Vocabulary& v, int64_t first, int64_t row) {
  const CrossEntropy& c = v.c;
  const float* scores = v.scores + row * v.ld;
  const int64_t whole = c.words / kLanes * kLanes;
  vec most = all(-INFINITY);
  for (int64_t i = 0; i < whole; i += kLanes) {
    const vec s = load(scores + i);
    most = s > most ? s : most;
  }
  float lanes[kLanes];
  store(lanes, most);
  float largest = lanes[0];
  for (int i = 1; i < kLanes; ++i) largest = lanes[i] > largest ? lanes[i] : largest;
  for (int64_t i = whole; i < c.words; ++i) largest = scores[i] > largest ? scores[i] : largest;
  vec sums = {};
  for (int64_t i = 0; i < whole; i += kLanes) sums += exp_or_nothing(load(scores + i) - largest);
  double total = sum(sums);
  if (whole < c.words) {  // the rest of the row, filled up with words of no weight
    for (int i = 0; i < kLanes; ++i)
      lanes[i] = whole + i < c.words ? scores[whole + i] - largest : -INFINITY;
    total += sum(exp_or_nothing(load(lanes)));
  }
  v.largest[row] = largest;
  v.scale[row] = static_cast<float>(1.0 / (total * static_cast<double>(c.rows)));
  const double target = scores[c.targets[first + row]];
  c.losses[first + row] = static_cast<float>(std::log(total) + largest - target);
}

// Adds the tiles of dW for the words begin .. end; the chunk's H is packed already.
void add_word_gradients(Vocabulary& v, int64_t begin, int64_t end, int64_t count, bool add) {
  const CrossEntropy& c = v.c;
  const Blocks rows(count);
  const int64_t tiles = (end - begin + kWeightRows - 1) / kWeightRows;
  for (int64_t block = 0; block < rows.count; ++block) {
    const int64_t depth = rows.size(block), row = rows.begin(block);
    const auto height = [&](int64_t tile) {
      const int64_t left = end - begin - tile * kWeightRows;
      return static_cast<int>(left < kWeightRows ? left : kWeightRows);
    };
    for (int64_t tile = 0; tile < tiles; ++tile)
      pack_gradient_tile(v.gradients + tile * kWeightRows * taken(depth), 0,
                         v.scores + row * v.ld + begin + tile * kWeightRows, v.ld, depth,
                         height(tile));
    for (int64_t panel = 0; panel < panels_of(c.width, kPanel); ++panel)
      for (int64_t tile = 0; tile < tiles; ++tile)
        add_gradient_tile(v.gradients + tile * kWeightRows * taken(depth),
                          v.operand + packed_size(row, c.width), depth, c.width, panel,
                          height(tile), c.d_weight + (begin + tile * kWeightRows) * c.width,
                          add || block > 0, v.result);
  }
}

// Stage 3, for a block of words.
void differentiate_words(Vocabulary& v, int64_t first, int64_t count, int64_t piece) {
  const CrossEntropy& c = v.c;
  const int64_t begin = piece * kWordBlock;
  const int64_t end = begin + kWordBlock < c.words ? begin + kWordBlock : c.words;
  const int64_t last = begin + padded(end - begin);  // reaches into the row's padding at most
  vec sums[kWordBlock / kLanes] = {};
  for (int64_t r = 0; r < count; ++r) {
    float* s = v.scores + r * v.ld;
    const float largest = v.largest[r], scale = v.scale[r];
    for (int64_t i = begin; i < last; i += kLanes)
      store(s + i, exp_or_nothing(load(s + i) - largest) * scale);
    const int64_t target = c.targets[first + r];
    if (begin <= target && target < end) s[target] -= 1.0f / static_cast<float>(c.rows);
    for (int64_t i = begin; i < last; i += kLanes) sums[(i - begin) / kLanes] += load(s + i);
  }
  if (c.d_bias) {
    float lanes[kWordBlock];
    for (int64_t i = 0; i < kWordBlock / kLanes; ++i) store(lanes + i * kLanes, sums[i]);
    for (int64_t i = begin; i < end; ++i)
      c.d_bias[i] = (first > 0 ? c.d_bias[i] : 0.0f) + lanes[i - begin];
  }
  if (c.d_weight) add_word_gradients(v, begin, end, count, first > 0);
}

// Stage 4, for one of so many parts of the rows.
void differentiate_rows(Vocabulary& v, int64_t first, int64_t count, Part part) {
  const CrossEntropy& c = v.c;
  const int64_t begin = count * part.number / part.count;
  const int64_t rows = count * (part.number + 1) / part.count - begin;
  float* const out = c.d_hidden + (first + begin) * c.width;
  const Blocks words(c.words);
  for (int64_t block = 0; block < words.count; ++block) {
    const int64_t word = words.begin(block);
    Product product = {v.scores + begin * v.ld + word, v.ld,
                       v.rows + packed_size(word, c.width), words.size(block)};
    if (kTaken > 1) {
      round_rows(product.a, v.ld, rows, product.depth, v.rounded, kRoundedFloats);
      product.a = v.rounded;
      product.lda = kRoundedFloats;
    }
    multiply(&product, 1, rows, c.width, kPanel, 0, panels_of(c.width, kPanel), out, c.width,
             block > 0 ? Start::add : Start::zero, nullptr, v.result);
  }
}

void run_cross_entropy(const CrossEntropy& c, Team& team, int thread) {
  Vocabulary v = make_vocabulary(c, team, thread);
  lay_out_vocabulary(v, c.scratch);
  const auto meet = [&] { wait(team, c.threads); };
  pack_vocabulary(v);
  meet();
  for (int64_t first = 0; first < c.rows; first += kChunkRows) {
    const int64_t count = c.rows - first < kChunkRows ? c.rows - first : kChunkRows;
    const int64_t panels = panels_of(c.words, kPanel);
    if (kTaken > 1) {
      v.pieces.take((count + kRoundedRows - 1) / kRoundedRows,
                    [&](int64_t piece) { round_chunk(v, first, count, piece); });
      meet();
    }
    v.pieces.take((panels + kScorePanels - 1) / kScorePanels,
                  [&](int64_t piece) { score_words(v, first, count, piece); });
    meet();
    v.pieces.take(count, [&](int64_t row) { lose(v, first, row); });
    if (c.d_weight)
      v.pieces.take(1, [&](int64_t) { pack_chunk(v, first, count); });
    meet();
    if (!wants_gradients(c)) continue;
    v.pieces.take((c.words + kWordBlock - 1) / kWordBlock,
                  [&](int64_t piece) { differentiate_words(v, first, count, piece); });
    meet();
    if (c.d_hidden) {
      const int64_t enough = (count + kGradientRows - 1) / kGradientRows;
      const int64_t parts = enough < c.threads ? c.threads : enough;
      v.pieces.take(parts, [&](int64_t part) { differentiate_rows(v, first, count, {part, parts}); });
    }
    meet();
  }
}

int64_t cross_entropy_floats(const CrossEntropy& c) {
  Team none{};
  Vocabulary v = make_vocabulary(c, none, 0);
  return lay_out_vocabulary(v, nullptr);
}

}  // namespace

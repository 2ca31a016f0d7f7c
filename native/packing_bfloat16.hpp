// Operands of products as the tiles read them, rounded to bfloat16: to the nearest number, of two
// equally near ones to the even. Numbers whose places in the depth follow each other make a pair, the
// first in its lower half. packing_float32.hpp has the same functions.
#pragma once

#include <cstring>

#include "gemm.hpp"

namespace {

static_assert(kLanes == 16 && kWeightRows == 8, "rows are converted so many numbers at a time");

inline __mmask16 first_lanes(int64_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xffff : count <= 0 ? 0 : (1u << count) - 1);
}

// So many of the floats, zeros behind them; no memory behind them is read.
inline vec load_some(const float* p, int64_t count) {
  return count >= kLanes ? load(p) : vec(_mm512_maskz_loadu_ps(first_lanes(count), p));
}

// Pairs of `count` floats that follow each other, up to 32 of them.
inline vec pairs_along(const float* p, int64_t count) {
  const vec low = load_some(p, count);
  const vec high = count > kLanes ? load_some(p + kLanes, count - kLanes) : vec{};
  return reinterpret_cast<vec>(_mm512_cvtne2ps_pbh(high, low));
}

// Pairs of the floats in the same lanes.
inline vec pairs_across(vec low, vec high) {
  typedef int16_t shorts __attribute__((vector_size(64)));
  shorts places = {};
  for (int i = 0; i < 32; ++i) places[i] = static_cast<int16_t>(i / 2 + i % 2 * 16);
  return reinterpret_cast<vec>(_mm512_permutexvar_epi16(
      reinterpret_cast<__m512i>(places),
      reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low))));
}

// The same for half as many lanes.
inline half_vec half_pairs_across(half_vec low, half_vec high) {
  typedef int16_t shorts __attribute__((vector_size(32)));
  shorts places = {};
  for (int i = 0; i < 16; ++i) places[i] = static_cast<int16_t>(i / 2 + i % 2 * 8);
  return reinterpret_cast<half_vec>(_mm256_permutexvar_epi16(
      reinterpret_cast<__m256i>(places),
      reinterpret_cast<__m256i>(_mm256_cvtne2ps_pbh(high, low))));
}

// Pairs whose upper halves are still zero, with those of others in them.
inline vec with_upper(vec pairs, vec upper) {
  return reinterpret_cast<vec>(reinterpret_cast<ivec>(pairs) | reinterpret_cast<ivec>(upper));
}

// Rows of A, each as pairs along the depth.
inline void round_rows(const float* a, int64_t lda, int64_t rows, int64_t depth, float* to,
                       int64_t ld) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < depth; k += 2 * kLanes)
      store(to + r * ld + k / 2, pairs_along(a + r * lda + k, depth - k));
}

// A panel of B, whose rows are contiguous, from w on: `real` of its columns are there.
inline void pack_panel(const float* w, int64_t row, int64_t depth, int64_t real, int64_t width,
                       float* out) {
  for (int64_t k = 0; k < depth; k += 2, out += width)
    for (int64_t n = 0; n < width; n += kLanes) {
      const float* const in = w + k * row + n;
      const vec high = k + 1 < depth ? load_some(in + row, real - n) : vec{};
      store(out + n, pairs_across(load_some(in, real - n), high));
    }
}

// The same where the columns are contiguous.
inline void pack_turned_panel(const float* w, int64_t column, int64_t depth, int64_t real,
                              int64_t width, float* out) {
  for (int64_t k = 0; k < depth; k += 2 * kLanes)
    for (int64_t n = 0; n < width; n += kLanes) {
      vec rows[kLanes];
      for (int i = 0; i < kLanes; ++i)
        rows[i] = n + i < real ? pairs_along(w + (n + i) * column + k, depth - k) : vec{};
      transpose(rows);
      const int64_t left = taken(depth - k);
      for (int i = 0; i < kLanes && i < left; ++i) store(out + (k / 2 + i) * width + n, rows[i]);
    }
}

// Pack columns of panels first .. last of the matrix B[k][n] = w[k * row + n * column], one of the
// two being 1.
inline void pack(const float* w, int64_t row, int64_t column, int64_t depth, int64_t columns,
                 int vectors, int64_t first, int64_t last, float* packed) {
  const int64_t panel_floats = vectors * kLanes;
  const int64_t all_floats = vectors_of(columns) * kLanes;
  for (int64_t panel = first; panel < last; ++panel) {
    const int64_t begin = panel * panel_floats;
    const int64_t width = all_floats - begin < panel_floats ? all_floats - begin : panel_floats;
    float* const out = packed + begin * taken(depth);
    if (column == 1)
      pack_panel(w + begin, row, depth, columns - begin, width, out);
    else
      pack_turned_panel(w + begin * column, column, depth, columns - begin, width, out);
  }
}

// The rows first .. first + count of all panels of a matrix of `depth` rows, going along its rows,
// which are contiguous; w is where the first of them begins. The rows before have been packed.
inline void pack_some_rows(const float* w, int64_t row, int64_t first, int64_t count,
                           int64_t depth, int64_t columns, int vectors, float* packed) {
  const int64_t panel_floats = vectors * kLanes;
  const int64_t all_floats = vectors_of(columns) * kLanes;
  // Calls work(place of a pair, column of w) for all vectors of the pair that row k belongs to.
  const auto each = [&](int64_t k, auto work) {
    for (int64_t begin = 0; begin < all_floats; begin += panel_floats) {
      const int64_t rest = all_floats - begin;
      const int64_t width = rest < panel_floats ? rest : panel_floats;
      float* const out = packed + begin * taken(depth) + (first + k) / 2 * width;
      for (int64_t n = 0; n < width; n += kLanes) work(out + n, begin + n);
    }
  };
  int64_t k = 0;
  if (first % 2 && count > 0) {  // the other half of a pair that was begun before
    each(0, [&](float* out, int64_t n) {
      store(out, with_upper(load(out), pairs_across(vec{}, load_some(w + n, columns - n))));
    });
    k = 1;
  }
  for (; k < count; k += 2) {
    const float* const in = w + k * row;
    each(k, [&](float* out, int64_t n) {
      const vec high = k + 1 < count ? load_some(in + row + n, columns - n) : vec{};
      store(out, pairs_across(load_some(in + n, columns - n), high));
    });
  }
}

// The same for all rows.
inline void pack_rows(const float* w, int64_t row, int64_t depth, int64_t columns, int vectors,
                      float* packed) {
  pack_some_rows(w, row, 0, depth, depth, columns, vectors, packed);
}

// Transposes some rows of a tile's gradients, from number `at` of its depth on: kWeightRows pairs for
// each two of them, zeros where the tile has fewer rows. Those before `at` have been packed.
inline void pack_gradient_tile(float* tile, int64_t at, const float* from, int64_t ld,
                               int64_t depth, int height) {
  const auto mask = static_cast<__mmask8>((1u << height) - 1);
  const auto row = [&](int64_t k) {
    __builtin_prefetch(from + k * ld + 16);  // the tiles to the right come next
    return height == kWeightRows ? load_half(from + k * ld)
                                 : half_vec(_mm256_maskz_loadu_ps(mask, from + k * ld));
  };
  float* to = tile + at / 2 * kWeightRows;
  int64_t k = 0;
  if (at % 2 && depth > 0) {
    typedef int32_t half_ivec __attribute__((vector_size(4 * kHalf)));
    const half_vec upper = half_pairs_across(half_vec{}, row(0));
    store_half(to, reinterpret_cast<half_vec>(reinterpret_cast<half_ivec>(load_half(to)) |
                                              reinterpret_cast<half_ivec>(upper)));
    to += kWeightRows;
    k = 1;
  }
  for (; k < depth; k += 2, to += kWeightRows)
    store_half(to, half_pairs_across(row(k), k + 1 < depth ? row(k + 1) : half_vec{}));
}

}  // namespace

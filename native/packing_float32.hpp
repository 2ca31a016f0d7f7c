// Operands of products as the tiles read them, in float32; packing_bfloat16.hpp has the same functions.
#pragma once

#include <cstring>

#include "gemm.hpp"

namespace {

// Products read the rows of A where they are.
inline void round_rows(const float*, int64_t, int64_t, int64_t, float*, int64_t) {}

// A square of kLanes rows and columns of B, whose columns are contiguous.
inline void pack_square(const float* w, int64_t column, float* packed, int64_t width) {
  vec rows[kLanes];
  for (int i = 0; i < kLanes; ++i) rows[i] = load(w + i * column);
  transpose(rows);
  for (int i = 0; i < kLanes; ++i) store(packed + i * width, rows[i]);
}

// Pack columns of panels first .. last of the matrix B[k][n] = w[k * row + n * column].
inline void pack(const float* w, int64_t row, int64_t column, int64_t depth, int64_t columns,
                 int vectors, int64_t first, int64_t last, float* packed) {
  const int panel_floats = vectors * kLanes;
  const int64_t all_floats = vectors_of(columns) * kLanes;
  for (int64_t panel = first; panel < last; ++panel) {
    const int64_t begin = panel * panel_floats;
    const int64_t width =
        all_floats - begin < panel_floats ? all_floats - begin : panel_floats;
    const int64_t real = columns - begin < width ? columns - begin : width;
    float* out = packed + begin * depth;
    if (column == 1) {
      for (int64_t k = 0; k < depth; ++k, out += width) {
        const float* in = w + k * row + begin;
        for (int64_t n = 0; n < real; ++n) out[n] = in[n];
        for (int64_t n = real; n < width; ++n) out[n] = 0;
      }
    } else {
      // Transposing: go down a few rows of w at a time, so that its lines stay in cache.
      constexpr int64_t kStrip = 16;
      for (int64_t k0 = 0; k0 < depth; k0 += kStrip) {
        const int64_t k1 = k0 + kStrip < depth ? k0 + kStrip : depth;
        int64_t done = 0;
        if (row == 1 && k1 - k0 == kStrip)
          for (; done + kLanes <= real; done += kLanes)
            for (int64_t k = k0; k < k1; k += kLanes)
              pack_square(w + (begin + done) * column + k, column, out + k * width + done, width);
        for (int64_t n = done; n < real; ++n) {
          const float* in = w + (begin + n) * column;
          for (int64_t k = k0; k < k1; ++k) out[k * width + n] = in[k * row];
        }
        for (int64_t n = real; n < width; ++n)
          for (int64_t k = k0; k < k1; ++k) out[k * width + n] = 0;
      }
    }
  }
}

// The rows first .. first + count of all panels of a matrix of `depth` rows, going along its rows,
// which are contiguous; w is where the first of them begins.
inline void pack_some_rows(const float* w, int64_t row, int64_t first, int64_t count,
                           int64_t depth, int64_t columns, int vectors, float* packed) {
  const int64_t panel_floats = vectors * kLanes;
  const int64_t whole = columns / panel_floats;
  for (int64_t k = 0; k < count; ++k)
    for (int64_t panel = 0; panel < whole; ++panel)
      for (int v = 0; v < vectors; ++v)
        store(packed + (panel * depth + first + k) * panel_floats + v * kLanes,
              load(w + k * row + panel * panel_floats + v * kLanes));
  const int64_t begin = whole * panel_floats, real = columns - begin;
  if (real == 0) return;
  const int64_t width = vectors_of(real) * kLanes;
  float* out = packed + begin * depth + first * width;
  for (int64_t k = 0; k < count; ++k, out += width)
    for (int64_t n = 0; n < width; ++n) out[n] = n < real ? w[k * row + begin + n] : 0.0f;
}

// The same for all rows.
inline void pack_rows(const float* w, int64_t row, int64_t depth, int64_t columns, int vectors,
                      float* packed) {
  pack_some_rows(w, row, 0, depth, depth, columns, vectors, packed);
}

// Transposes some rows of a tile's gradients, from number `at` of its depth on: kWeightRows numbers for
// each, zeros where the tile has fewer rows.
inline void pack_gradient_tile(float* tile, int64_t at, const float* from, int64_t ld,
                               int64_t depth, int height) {
  float* const to = tile + at * kWeightRows;
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

}  // namespace

// Matrix products against packed weights.
//
// A packed matrix is cut into panels of a few vectors' width; inside a panel the rows
// follow each other. One call computes a panel of C for a few rows of A, keeping all sums
// in registers. Each element of C is summed in one fixed order, whatever the sizes of the
// tiles, so results do not depend on how the work is shared out.
#pragma once

#include <cstdint>

#include "numbers.hpp"
#include "simd.hpp"

namespace {

// A product that is part of a sum: rows of A times one packed matrix.
struct Product {
  const float* a;
  int64_t lda;
  const float* packed;
  int64_t depth;  // in numbers, whatever one multiplication takes
};

constexpr int kMostProducts = 64;  // of one sum that are taken at a time

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kMostRows[4] = {0, 14, 12, 9};  // by vectors in a panel: 32 registers
#else
constexpr int kMostRows[4] = {0, 8, 6, 4};  // 16 registers
#endif
constexpr int kMostTileRows = 14;

enum class Start { zero, bias, add };

// Ask for C's cache lines early: they are written at the end, and would be waited for then.
template <int Rows, int Vectors>
inline void claim(float* c, int64_t ldc) {
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) __builtin_prefetch(c + r * ldc + v * kLanes, 1, 3);
}

// C[Rows x panel] = start + sum over products of A * B, B being Vectors wide.
template <int Rows, int Vectors>
void tile(const Product* products, int count, int64_t panel, int panel_floats, float* c,
          int64_t ldc, Start start, const float* bias) {
  vec sums[Rows][Vectors] = {};
  claim<Rows, Vectors>(c, ldc);
  for (int i = 0; i < count; ++i) {
    const float* a = products[i].a;
    const int64_t lda = products[i].lda;
    const int64_t depth = taken(products[i].depth);
    const float* b = products[i].packed + panel * panel_floats * depth;
    for (int64_t k = 0; k < depth; ++k) {
      vec row[Vectors];
#pragma GCC unroll 3
      for (int v = 0; v < Vectors; ++v) row[v] = load(b + v * kLanes);
      b += Vectors * kLanes;
#pragma GCC unroll 14
      for (int r = 0; r < Rows; ++r) {
        const float x = a[r * lda];
#pragma GCC unroll 3
        for (int v = 0; v < Vectors; ++v) sums[r][v] = multiply_add(sums[r][v], row[v], x);
      }
      ++a;
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) {
      float* out = c + r * ldc + v * kLanes;
      if (start == Start::add) sums[r][v] += load(out);
      if (start == Start::bias) sums[r][v] += load(bias + v * kLanes);
      store(out, sums[r][v]);
    }
}

// The same for a panel of one vector, of which only the first half of the lanes is real.
template <int Rows>
void half_tile(const Product* products, int count, int64_t panel, int panel_floats, float* c,
               int64_t ldc, Start start, const float* bias) {
  half_vec sums[Rows] = {};
  claim<Rows, 1>(c, ldc);
  for (int i = 0; i < count; ++i) {
    const float* a = products[i].a;
    const int64_t lda = products[i].lda;
    const int64_t depth = taken(products[i].depth);
    const float* b = products[i].packed + panel * panel_floats * depth;
    for (int64_t k = 0; k < depth; ++k, ++a, b += kLanes) {
      const half_vec row = load_half(b);
#pragma GCC unroll 14
      for (int r = 0; r < Rows; ++r) sums[r] = multiply_add(sums[r], row, a[r * lda]);
    }
  }
  for (int r = 0; r < Rows; ++r) {
    float* out = c + r * ldc;
    if (start == Start::add) sums[r] += load_half(out);
    if (start == Start::bias) sums[r] += load_half(bias);
    store_half(out, sums[r]);
    if (start != Start::add) store_half(out + kHalf, half_vec{});
  }
}

// One row of C over Full panels of three vectors, and one of Rest vectors behind them. A row has too few
// sums in one panel to keep the arithmetic busy, and one stream of memory is too slow.
constexpr int kRowPanels = 4;

template <int Full, int Rest>
void row_tile(const Product* products, int count, int64_t panel, float* c, Start start,
              const float* bias) {
  constexpr int kAll = 3 * Full + Rest;
  vec sums[kAll] = {};
  for (int i = 0; i < count; ++i) {
    const float* a = products[i].a;
    const int64_t depth = taken(products[i].depth);
    const float* b = products[i].packed + panel * 3 * kLanes * depth;
    const int64_t next = 3 * kLanes * depth;
    for (int64_t k = 0; k < depth; ++k) {
      const float x = a[k];
#pragma GCC unroll 4
      for (int p = 0; p < Full; ++p)
#pragma GCC unroll 3
        for (int v = 0; v < 3; ++v)
          sums[3 * p + v] =
              multiply_add(sums[3 * p + v], load(b + p * next + (3 * k + v) * kLanes), x);
#pragma GCC unroll 2
      for (int v = 0; v < Rest; ++v)
        sums[3 * Full + v] =
            multiply_add(sums[3 * Full + v], load(b + Full * next + (Rest * k + v) * kLanes), x);
    }
  }
  for (int v = 0; v < kAll; ++v) {
    if (start == Start::add) sums[v] += load(c + v * kLanes);
    if (start == Start::bias) sums[v] += load(bias + v * kLanes);
    store(c + v * kLanes, sums[v]);
  }
}

using RowTile = void (*)(const Product*, int, int64_t, float*, Start, const float*);

template <int Full = kRowPanels>
RowTile row_tile_for(int full, int64_t rest) {
  if (full == Full)
    return rest == 2 ? row_tile<Full, 2> : rest == 1 ? row_tile<Full, 1> : row_tile<Full, 0>;
  if constexpr (Full > 0)
    return row_tile_for<Full - 1>(full, rest);
  else
    return nullptr;
}

// Rows of a tile of a weight's gradient.
constexpr int kWeightRows = kMostRows[3] >= 8 ? 8 : 4;

// C[kWeightRows x panel] (+)= transpose(A) * B, A being packed as kWeightRows numbers for each k, or
// as many pairs for each two.
template <int Vectors>
void tile_transposed(const float* a, const float* b, int64_t depth, float* c, int64_t ldc,
                     bool add) {
  constexpr int Rows = kWeightRows;
  vec sums[Rows][Vectors] = {};
  claim<Rows, Vectors>(c, ldc);
  for (int64_t k = 0; k < taken(depth); ++k) {
    vec row[Vectors];
#pragma GCC unroll 3
    for (int v = 0; v < Vectors; ++v) row[v] = load(b + v * kLanes);
    b += Vectors * kLanes;
#pragma GCC unroll 14
    for (int r = 0; r < Rows; ++r) {
      const float x = a[r];
#pragma GCC unroll 3
      for (int v = 0; v < Vectors; ++v) sums[r][v] = multiply_add(sums[r][v], row[v], x);
    }
    a += Rows;
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) {
      float* out = c + r * ldc + v * kLanes;
      store(out, add ? load(out) + sums[r][v] : sums[r][v]);
    }
}

// The same where only half of the lanes of the one vector is real.
inline void half_tile_transposed(const float* a, const float* b, int64_t depth, float* c,
                                 int64_t ldc, bool add) {
  constexpr int Rows = kWeightRows;
  half_vec sums[Rows] = {};
  for (int64_t k = 0; k < taken(depth); ++k, a += Rows, b += kLanes) {
    const half_vec row = load_half(b);
#pragma GCC unroll 14
    for (int r = 0; r < Rows; ++r) sums[r] = multiply_add(sums[r], row, a[r]);
  }
  for (int r = 0; r < Rows; ++r)
    store_half(c + r * ldc, add ? load_half(c + r * ldc) + sums[r] : sums[r]);
}

using Tile = void (*)(const Product*, int, int64_t, int, float*, int64_t, Start, const float*);

// The tile of so many rows, among those that the registers can hold.
template <int Vectors, int Rows = kMostRows[Vectors]>
Tile tile_for(int rows) {
  if constexpr (Rows == 1)
    return tile<1, Vectors>;
  else
    return rows == Rows ? tile<Rows, Vectors> : tile_for<Vectors, Rows - 1>(rows);
}

template <int Rows = kMostRows[1]>
Tile half_tile_for(int rows) {
  if constexpr (Rows == 1)
    return half_tile<1>;
  else
    return rows == Rows ? half_tile<Rows> : half_tile_for<Rows - 1>(rows);
}

// How many vectors a full panel has for blocks of this many rows: wide panels reuse each
// element of A more, narrow ones let more rows share each load of B.
inline int panel_vectors(int64_t rows) {
  const int wide = kMostRows[3], narrow = kMostRows[2];
  if (rows <= wide) return 3;
  if (rows <= narrow) return 2;
  return 3;
}

inline int64_t vectors_of(int64_t columns) { return (columns + kLanes - 1) / kLanes; }

inline int64_t panels_of(int64_t columns, int vectors) {
  return (vectors_of(columns) + vectors - 1) / vectors;
}

inline int64_t packed_size(int64_t depth, int64_t columns) {
  return taken(depth) * vectors_of(columns) * kLanes;
}

// One row of C over the panels first .. last, which are three vectors wide but for the last one of all.
// C has whole vectors.
inline void multiply_row(const Product* products, int count, int64_t all_vectors, int64_t first,
                         int64_t last, float* c, Start start, const float* bias) {
  for (int64_t panel = first; panel < last;) {
    int full = 0;
    while (full < kRowPanels && panel + full < last && (panel + full + 1) * 3 <= all_vectors) ++full;
    const bool ends = panel + full + 1 == last && (panel + full + 1) * 3 > all_vectors;
    const int64_t rest = ends ? all_vectors - (panel + full) * 3 : 0;
    const int64_t column = panel * 3 * kLanes;
    row_tile_for(full, rest)(products, count, panel, c + column, start,
                             bias ? bias + column : nullptr);
    panel += full + (rest > 0);
  }
}

// C[rows x columns] over the panels first .. last, with `vectors` vectors in a full panel.
// Where C's rows are too short for whole vectors, the last panel goes by way of `spare`.
inline void multiply(const Product* products, int count, int64_t rows, int64_t columns,
                     int vectors, int64_t first, int64_t last, float* c, int64_t ldc, Start start,
                     const float* bias, float* spare) {
  if (rows <= 0) return;
  const int64_t all_vectors = vectors_of(columns);
  const int panel_floats = vectors * kLanes;
  if (rows == 1 && vectors == 3 && all_vectors * kLanes <= ldc && count <= kMostProducts)
    return multiply_row(products, count, all_vectors, first, last, c, start, bias);
  Product shifted[kMostProducts];
  for (int64_t panel = first; panel < last; ++panel) {
    const int width = static_cast<int>(
        all_vectors - panel * vectors < vectors ? all_vectors - panel * vectors : vectors);
    const int64_t tiles = (rows + kMostRows[width] - 1) / kMostRows[width];
    int64_t row = 0;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t next = rows * (t + 1) / tiles;
      const int height = static_cast<int>(next - row);
      float* const place = c + row * ldc + panel * panel_floats;
      const int64_t real = columns - panel * panel_floats;
      const Tile run = width == 3      ? tile_for<3>(height)
                       : width == 2    ? tile_for<2>(height)
                       : real <= kHalf ? half_tile_for(height)
                                       : tile_for<1>(height);
      const bool fits = panel * panel_floats + width * kLanes <= ldc;
      float* out = fits ? place : spare;
      const int64_t ld = fits ? ldc : width * kLanes;
      if (!fits && start == Start::add)
        for (int r = 0; r < height; ++r)
          for (int64_t j = 0; j < real; ++j) out[r * ld + j] = place[r * ldc + j];
      const float* panel_bias = bias ? bias + panel * panel_floats : nullptr;
      Start begin = start;
      for (int done = 0; done < count;) {  // sums of very many products go in portions
        const int portion = count - done < kMostProducts ? count - done : kMostProducts;
        for (int i = 0; i < portion; ++i) {
          shifted[i] = products[done + i];
          shifted[i].a += row * shifted[i].lda;
        }
        run(shifted, portion, panel, panel_floats, out, ld, begin, panel_bias);
        begin = Start::add;
        done += portion;
      }
      if (!fits)
        for (int r = 0; r < height; ++r)
          for (int64_t j = 0; j < real; ++j) place[r * ldc + j] = out[r * ld + j];
      row = next;
    }
  }
}

}  // namespace

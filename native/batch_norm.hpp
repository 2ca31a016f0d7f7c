// The norm over the rows of a batch, column by column, and its gradient.
#pragma once

#include "elementwise.hpp"

namespace {

// Some columns of a matrix of `rows` rows that are `row` floats long.
struct Columns {
  int64_t begin, end;  // multiples of kLanes
  int64_t rows;
  int64_t row;
};

constexpr int kColumnVectors = 4;  // vectors of columns that are summed side by side

// f(column, vectors): goes through the columns, a few vectors at a time.
template <typename F>
inline void each_columns(const Columns& c, F f) {
  for (int64_t i = c.begin; i < c.end; i += kColumnVectors * kLanes) {
    const int64_t left = (c.end - i) / kLanes;
    f(i, static_cast<int>(left < kColumnVectors ? left : kColumnVectors));
  }
}

// Means and variances of a few columns, over all rows.
inline void column_moments(const float* a, const Columns& c, int vectors, vec* mean,
                           vec* variance) {
  const float share = 1.0f / static_cast<float>(c.rows);
  for (int j = 0; j < vectors; ++j) mean[j] = variance[j] = vec{};
  for (int64_t r = 0; r < c.rows; ++r)
    for (int j = 0; j < vectors; ++j) mean[j] += load(a + r * c.row + j * kLanes);
  for (int j = 0; j < vectors; ++j) mean[j] *= share;
  for (int64_t r = 0; r < c.rows; ++r)
    for (int j = 0; j < vectors; ++j) {
      const vec d = load(a + r * c.row + j * kLanes) - mean[j];
      variance[j] += d * d;
    }
  for (int j = 0; j < vectors; ++j) variance[j] *= share;
}

inline vec norm_scale(vec variance) {
  vec scale;
  for (int lane = 0; lane < kLanes; ++lane)
    scale[lane] = 1.0f / std::sqrt(variance[lane] + kNormEpsilon);
  return scale;
}

inline void batch_norm_columns(float* out, const float* in, const Columns& c, bool add) {
  if (!c.rows) return;
  each_columns(c, [&](int64_t at, int vectors) {
    vec mean[kColumnVectors], variance[kColumnVectors];
    column_moments(in + at, c, vectors, mean, variance);
    for (int j = 0; j < vectors; ++j) {
      const vec scale = norm_scale(variance[j]);
      const int64_t column = at + j * kLanes;
      for (int64_t i = column; i < c.rows * c.row; i += c.row) {
        const vec v = (load(in + i) - mean[j]) * scale;
        store(out + i, add ? load(out + i) + v : v);
      }
    }
  });
}

// d_batch_norm: (g - mean(g) - y * mean(g * y)) / sd, with y the normalised column.
inline void batch_norm_gradient_columns(float* out, const float* gradient, const float* in,
                                        const Columns& c, bool add) {
  if (!c.rows) return;
  const float share = 1.0f / static_cast<float>(c.rows);
  each_columns(c, [&](int64_t at, int vectors) {
    vec mean[kColumnVectors], variance[kColumnVectors];
    column_moments(in + at, c, vectors, mean, variance);
    for (int j = 0; j < vectors; ++j) {
      const vec scale = norm_scale(variance[j]);
      const int64_t column = at + j * kLanes;
      vec mean_g = {}, g_dot_y = {};
      for (int64_t i = column; i < c.rows * c.row; i += c.row) {
        const vec g = load(gradient + i);
        mean_g += g;
        g_dot_y += g * ((load(in + i) - mean[j]) * scale);
      }
      mean_g *= share;
      g_dot_y *= share;
      for (int64_t i = column; i < c.rows * c.row; i += c.row) {
        const vec y = (load(in + i) - mean[j]) * scale;
        const vec v = (load(gradient + i) - mean_g - y * g_dot_y) * scale;
        store(out + i, add ? load(out + i) + v : v);
      }
    }
  });
}

inline bool is_batch_norm(Op op) { return op == Op::batch_norm || op == Op::d_batch_norm; }

}  // namespace

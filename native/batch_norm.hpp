// The norm over the rows of a batch, column by column, and its gradient.
#pragma once

#include <type_traits>

#include "elementwise.hpp"

namespace {

// Some columns of a matrix of `rows` rows that are `row` floats long.
struct Columns {
  int64_t begin, end;  // multiples of kLanes
  int64_t rows;
  int64_t row;
};

constexpr int kColumnVectors = 4;  // vectors of columns that are summed side by side

// f(column, how many vectors): goes through the columns, a few vectors at a time. The number comes as a
// constant, so that sums stay in registers.
template <typename F>
inline void each_columns(const Columns& c, F f) {
  int64_t i = c.begin;
  for (; i + kColumnVectors * kLanes <= c.end; i += kColumnVectors * kLanes)
    f(i, std::integral_constant<int, kColumnVectors>());
  for (; i + 2 * kLanes <= c.end; i += 2 * kLanes) f(i, std::integral_constant<int, 2>());
  for (; i < c.end; i += kLanes) f(i, std::integral_constant<int, 1>());
}

inline vec norm_scale(vec variance) { return 1.0f / square_root(variance + kNormEpsilon); }

// Means are sums of differences from the first row, so that equal numbers have themselves as their mean
// (see row_moments).
inline void batch_norm_columns(float* out, const float* in, const Columns& c, bool add) {
  if (!c.rows) return;
  const float share = 1.0f / static_cast<float>(c.rows);
  each_columns(c, [&](int64_t at, auto vectors) {
    constexpr int n = decltype(vectors)::value;
    const int64_t end = at + c.rows * c.row;
    vec mean[n] = {}, scale[n] = {};
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) mean[j] += load(in + i + j * kLanes) - load(in + at + j * kLanes);
    for (int j = 0; j < n; ++j) mean[j] = load(in + at + j * kLanes) + mean[j] * share;
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) {
        const vec d = load(in + i + j * kLanes) - mean[j];
        scale[j] += d * d;
      }
    for (int j = 0; j < n; ++j) scale[j] = norm_scale(scale[j] * share);
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) {
        float* to = out + i + j * kLanes;
        const vec v = (load(in + i + j * kLanes) - mean[j]) * scale[j];
        store(to, add ? load(to) + v : v);
      }
  });
}

// d_batch_norm: (g - mean(g) - y * mean(g * y)) / sd, with y the normalised column.
inline void batch_norm_gradient_columns(float* out, const float* gradient, const float* in,
                                        const Columns& c, bool add) {
  if (!c.rows) return;
  const float share = 1.0f / static_cast<float>(c.rows);
  each_columns(c, [&](int64_t at, auto vectors) {
    constexpr int n = decltype(vectors)::value;
    const int64_t end = at + c.rows * c.row;
    vec mean[n] = {}, mean_g[n] = {}, variance[n] = {}, g_dot_d[n] = {}, scale[n] = {};
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) {
        mean[j] += load(in + i + j * kLanes) - load(in + at + j * kLanes);
        mean_g[j] += load(gradient + i + j * kLanes);
      }
    for (int j = 0; j < n; ++j) {
      mean[j] = load(in + at + j * kLanes) + mean[j] * share;
      mean_g[j] *= share;
    }
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) {
        const vec d = load(in + i + j * kLanes) - mean[j];
        variance[j] += d * d;
        g_dot_d[j] += load(gradient + i + j * kLanes) * d;
      }
    for (int j = 0; j < n; ++j) {
      scale[j] = norm_scale(variance[j] * share);
      g_dot_d[j] *= share * scale[j] * scale[j];  // y is d / sd, on both of its places
    }
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) {
        float* to = out + i + j * kLanes;
        const vec d = load(in + i + j * kLanes) - mean[j];
        const vec v = (load(gradient + i + j * kLanes) - mean_g[j] - d * g_dot_d[j]) * scale[j];
        store(to, add ? load(to) + v : v);
      }
  });
}

inline bool is_batch_norm(Op op) { return op == Op::batch_norm || op == Op::d_batch_norm; }

}  // namespace

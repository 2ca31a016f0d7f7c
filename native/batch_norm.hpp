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

// Of a sum of squares over `1 / share` rows.
inline vec norm_scale(vec squares, float share, float epsilon) {
  return 1.0f / square_root(fused(squares, all(share), all(epsilon)));
}

inline void store_or_add(float* to, vec d, vec scale, bool add) {
  store(to, add ? fused(d, scale, load(to)) : d * scale);
}

// Means are sums of differences from the first row, so that equal numbers have themselves as their mean
// (see row_moments). How many columns are taken together depends on the threads, and results may not:
// all sums of products are `fused`.
inline void batch_norm_columns(float* out, const float* in, const Columns& c, float epsilon,
                               bool add) {
  if (!c.rows) return;
  const float share = 1.0f / static_cast<float>(c.rows);
  each_columns(c, [&](int64_t at, auto vectors) {
    constexpr int n = decltype(vectors)::value;
    const int64_t end = at + c.rows * c.row;
    vec first[n], mean[n] = {}, scale[n] = {};
    for (int j = 0; j < n; ++j) first[j] = load(in + at + j * kLanes);
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) mean[j] += load(in + i + j * kLanes) - first[j];
    for (int j = 0; j < n; ++j) mean[j] = fused(mean[j], all(share), first[j]);
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) {
        const vec d = load(in + i + j * kLanes) - mean[j];
        scale[j] = fused(d, d, scale[j]);
      }
    for (int j = 0; j < n; ++j) scale[j] = norm_scale(scale[j], share, epsilon);
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j)
        store_or_add(out + i + j * kLanes, load(in + i + j * kLanes) - mean[j], scale[j], add);
  });
}

// Its gradient: (g - mean(g) - y * mean(g * y)) / sd, with y the normalised column.
inline void batch_norm_gradient_columns(float* out, const float* gradient, const float* in,
                                        const Columns& c, float epsilon, bool add) {
  if (!c.rows) return;
  const float share = 1.0f / static_cast<float>(c.rows);
  each_columns(c, [&](int64_t at, auto vectors) {
    constexpr int n = decltype(vectors)::value;
    const int64_t end = at + c.rows * c.row;
    vec first[n], mean[n] = {}, mean_g[n] = {}, squares[n] = {}, g_dot_d[n] = {}, scale[n] = {};
    for (int j = 0; j < n; ++j) first[j] = load(in + at + j * kLanes);
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) {
        mean[j] += load(in + i + j * kLanes) - first[j];
        mean_g[j] += load(gradient + i + j * kLanes);
      }
    for (int j = 0; j < n; ++j) {
      mean[j] = fused(mean[j], all(share), first[j]);
      mean_g[j] *= share;
    }
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) {
        const vec d = load(in + i + j * kLanes) - mean[j];
        squares[j] = fused(d, d, squares[j]);
        g_dot_d[j] = fused(load(gradient + i + j * kLanes), d, g_dot_d[j]);
      }
    for (int j = 0; j < n; ++j) {
      scale[j] = norm_scale(squares[j], share, epsilon);
      g_dot_d[j] *= -share * scale[j] * scale[j];  // y is d / sd, on both of its places
    }
    for (int64_t i = at; i < end; i += c.row)
      for (int j = 0; j < n; ++j) {
        const vec d = load(in + i + j * kLanes) - mean[j];
        const vec g = fused(d, g_dot_d[j], load(gradient + i + j * kLanes) - mean_g[j]);
        store_or_add(out + i + j * kLanes, g, scale[j], add);
      }
  });
}

inline bool is_damped(Op op) {
  return op == Op::damped_batch_norm || op == Op::d_damped_batch_norm;
}

inline bool is_batch_norm(Op op) {
  return op == Op::batch_norm || op == Op::d_batch_norm || is_damped(op);
}

// What a batch norm adds to the variance.
inline float epsilon_of(Op op) { return is_damped(op) ? kDampedEpsilon : kNormEpsilon; }

}  // namespace

// Rows of numbers, logarithms or their exponentials: what the CRF does with one at a time. Rows are
// whole vectors long, unless it says otherwise.
#pragma once

#include <cmath>

#include "simd.hpp"

namespace {

// Of a row of tags, to and from rows that have no padding.
void copy_tags(float* to, const float* from, int64_t tags) {
  int64_t i = 0;
  for (; i + kLanes <= tags; i += kLanes) store(to + i, load(from + i));
  for (; i < tags; ++i) to[i] = from[i];
}

void copy_padded(float* to, const float* from, int64_t count, int64_t ld) {
  copy_tags(to, from, count);
  for (int64_t i = count; i < ld; ++i) to[i] = -INFINITY;
}

// A NaN is passed over here, and comes out of the exponentials.
float largest(const float* row, int64_t floats) {
  vec most = all(-INFINITY);
  for (int64_t i = 0; i < floats; i += kLanes) {
    const vec x = load(row + i);
    most = x > most ? x : most;
  }
  return largest_lane(most)[0];
}

void take_off(float* row, float amount, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kLanes) store(row + i, load(row + i) - amount);
}

void exponentials(float* to, const float* from, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kLanes) store(to + i, exp_or_nothing(load(from + i)));
}

bool has_nan(const float* row, int64_t floats) {
  for (int64_t i = 0; i < floats; ++i)
    if (row[i] != row[i]) return true;
  return false;
}

// log(sum of e^(a + b)) over two rows.
float log_sum(const float* a, const float* b, int64_t floats) {
  vec tops = all(-INFINITY);
  for (int64_t i = 0; i < floats; i += kLanes) {
    const vec x = load(a + i) + load(b + i);
    tops = x > tops ? x : tops;
  }
  const float top = largest_lane(tops)[0];
  if (top == -INFINITY) return has_nan(a, floats) || has_nan(b, floats) ? NAN : top;
  vec sums = {};
  for (int64_t i = 0; i < floats; i += kLanes)
    sums += exp_or_nothing(load(a + i) + load(b + i) - top);
  return top + logf(sum_of_lanes(sums)[0]);
}

// result = row of `powers` * matrix, in four chains of sums for each vector.
void multiply_row(const float* powers, const float* matrix, int64_t tags, int64_t ld,
                  float* result) {
  for (int64_t column = 0; column < ld; column += kLanes) {
    const float* m = matrix + column;
    vec sums[4] = {};
    int64_t i = 0;
    for (; i + 4 <= tags; i += 4)
      for (int s = 0; s < 4; ++s) sums[s] += powers[i + s] * load(m + (i + s) * ld);
    for (; i < tags; ++i) sums[0] += powers[i] * load(m + i * ld);
    store(result + column, (sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}

void add(float* to, const float* a, const float* b, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kLanes) store(to + i, load(a + i) + load(b + i));
}

}  // namespace

// Elementwise operations and their gradients on runs of floats.
#pragma once

#include <cmath>

#include "program.hpp"
#include "simd.hpp"

namespace {

using cellwright::Op;

// The inputs of one operation, for up to as many as a node may have.
struct Span {
  const float* const* in;
  int count;
  int64_t floats;   // a multiple of kPad
  int64_t row;      // floats per row
  int64_t columns;  // of which this many are real
};

template <bool Add, typename F>
inline void each(float* out, int64_t floats, F f) {
  for (int64_t i = 0; i < floats; i += kLanes) {
    const vec v = f(i);
    store(out + i, Add ? load(out + i) + v : v);
  }
}

template <bool Add>
void apply_many(Op op, float* out, const Span& s, const float* theta) {
  const float* const* in = s.in;
  const int count = s.count;
  switch (op) {
    case Op::add:
    case Op::mean: {
      const float scale = op == Op::mean ? 1.0f / static_cast<float>(count) : 1.0f;
      each<Add>(out, s.floats, [=](int64_t i) {
        vec total = load(in[0] + i);
        for (int j = 1; j < count; ++j) total += load(in[j] + i);
        return total * scale;
      });
      return;
    }
    case Op::mul:
    case Op::d_mul:
      each<Add>(out, s.floats, [=](int64_t i) {
        vec total = load(in[0] + i);
        for (int j = 1; j < count; ++j) total *= load(in[j] + i);
        return total;
      });
      return;
    case Op::mix:
      each<Add>(out, s.floats, [=](int64_t i) {
        vec total = load(in[0] + i) * theta[0];
        for (int j = 1; j < count; ++j) total += load(in[j] + i) * theta[j];
        return total;
      });
      return;
    default:
      return;
  }
}

template <bool Add>
void apply(Op op, float* out, const Span& s, int arg, const float* theta) {
  const float* a = s.count > 0 ? s.in[0] : nullptr;
  const float* b = s.count > 1 ? s.in[1] : nullptr;
  const float* c = s.count > 2 ? s.in[2] : nullptr;
  const int64_t n = s.floats;
  switch (op) {
    case Op::add:
      if (s.count == 2) return each<Add>(out, n, [=](int64_t i) { return load(a + i) + load(b + i); });
      return apply_many<Add>(op, out, s, theta);
    case Op::mul:
    case Op::d_mul:
      if (s.count == 2) return each<Add>(out, n, [=](int64_t i) { return load(a + i) * load(b + i); });
      return apply_many<Add>(op, out, s, theta);
    case Op::mean:
      return apply_many<Add>(op, out, s, theta);
    case Op::mix:
      return apply_many<Add>(op, out, s, theta + arg);
    case Op::sub:
      return each<Add>(out, n, [=](int64_t i) { return load(a + i) - load(b + i); });
    case Op::blend:
      return each<Add>(out, n, [=](int64_t i) {
        const vec rest = load(c + i);
        return rest + load(a + i) * (load(b + i) - rest);
      });
    case Op::tanh:
      return each<Add>(out, n, [=](int64_t i) { return tanh(load(a + i)); });
    case Op::sigmoid:
      return each<Add>(out, n, [=](int64_t i) { return sigmoid(load(a + i)); });
    case Op::relu:  // written so that a NaN stays one
      return each<Add>(out, n, [=](int64_t i) {
        const vec x = load(a + i);
        return x < 0.0f ? vec{} : x;
      });
    case Op::leaky_relu:
      return each<Add>(out, n, [=](int64_t i) {
        const vec x = load(a + i);
        return x < 0.0f ? x * 0.01f : x;
      });
    case Op::exp:
      return each<Add>(out, n, [=](int64_t i) { return exp(load(a + i)); });
    case Op::max:  // a NaN on either side comes through
      return each<Add>(out, n, [=](int64_t i) {
        const vec x = load(a + i), y = load(b + i);
        return x != x ? x : x > y ? x : y;
      });
    case Op::div:
      return each<Add>(out, n, [=](int64_t i) { return load(a + i) / load(b + i); });
    case Op::copy:
    case Op::d_copy:
      return each<Add>(out, n, [=](int64_t i) { return load(a + i); });
    case Op::zero:
      return each<Add>(out, n, [=](int64_t) { return vec{}; });
    case Op::d_negate:
      return each<Add>(out, n, [=](int64_t i) { return -load(a + i); });
    case Op::d_scale: {
      const float scale = 1.0f / static_cast<float>(arg);
      return each<Add>(out, n, [=](int64_t i) { return load(a + i) * scale; });
    }
    case Op::d_blend_gate:
      return each<Add>(out, n,
                       [=](int64_t i) { return load(a + i) * (load(b + i) - load(c + i)); });
    case Op::d_blend_rest:
      return each<Add>(out, n, [=](int64_t i) { return load(a + i) * (1.0f - load(b + i)); });
    case Op::d_tanh: {
      const float scale = arg < 0 ? 1.0f : theta[arg];
      return each<Add>(out, n, [=](int64_t i) {
        const vec y = load(b + i);
        return load(a + i) * (scale * (1.0f - y * y));
      });
    }
    case Op::d_sigmoid: {
      const float scale = arg < 0 ? 1.0f : theta[arg];
      return each<Add>(out, n, [=](int64_t i) {
        const vec y = load(b + i);
        return load(a + i) * (scale * (y * (1.0f - y)));
      });
    }
    case Op::d_relu: {
      const float scale = arg < 0 ? 1.0f : theta[arg];
      return each<Add>(out, n, [=](int64_t i) {
        // Passes the gradient at a NaN, as torch does.
        return load(b + i) <= 0.0f ? vec{} : load(a + i) * scale;
      });
    }
    case Op::d_leaky_relu: {
      const float scale = arg < 0 ? 1.0f : theta[arg];
      return each<Add>(out, n, [=](int64_t i) {
        const vec g = load(a + i) * scale;
        return load(b + i) > 0.0f ? g : g * 0.01f;
      });
    }
    case Op::d_exp: {
      const float scale = arg < 0 ? 1.0f : theta[arg];
      return each<Add>(out, n, [=](int64_t i) { return load(a + i) * (scale * load(b + i)); });
    }
    case Op::d_max:  // halves at ties, and all at a NaN, as torch does
      return each<Add>(out, n, [=](int64_t i) {
        const vec g = load(a + i), x = load(b + i), y = load(c + i);
        return x < y ? vec{} : x == y ? g * 0.5f : g;
      });
    case Op::d_divisor:
      return each<Add>(out, n, [=](int64_t i) {
        const vec below = load(c + i);
        return -load(a + i) * (load(b + i) / below / below);
      });
    case Op::d_mix: {
      const float weight = theta[arg];
      return each<Add>(out, n, [=](int64_t i) { return load(a + i) * weight; });
    }
    default:
      return;
  }
}

constexpr float kNormEpsilon = 1e-5f;
constexpr float kDampedEpsilon = 1.0f;

inline float row_sum(const float* a, int64_t columns, float less = 0.0f) {
  vec total = {};
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) total += load(a + i) - less;
  float rest = 0;
  for (; i < columns; ++i) rest += a[i] - less;
  return sum(total) + rest;
}

inline float row_dot(const float* a, const float* b, int64_t columns) {
  vec total = {};
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) total += load(a + i) * load(b + i);
  float rest = 0;
  for (; i < columns; ++i) rest += a[i] * b[i];
  return sum(total) + rest;
}

// out[j] += the dot product of g with each of `count` rows.
inline void row_dots(float* out, const float* g, const float* const* in, int count, int64_t at,
                     int64_t columns) {
  constexpr int kTogether = 4;
  for (int first = 0; first < count; first += kTogether) {
    const int some = count - first < kTogether ? count - first : kTogether;
    if (some < kTogether) {
      for (int j = first; j < count; ++j) out[j] += row_dot(g, in[j] + at, columns);
      return;
    }
    const float* a[kTogether] = {in[first] + at, in[first + 1] + at, in[first + 2] + at,
                                 in[first + 3] + at};
    vec totals[kTogether] = {};
    int64_t i = 0;
    for (; i + kLanes <= columns; i += kLanes) {
      const vec v = load(g + i);
      for (int j = 0; j < kTogether; ++j) totals[j] += v * load(a[j] + i);
    }
    float rest[kTogether] = {};
    for (; i < columns; ++i)
      for (int j = 0; j < kTogether; ++j) rest[j] += g[i] * a[j][i];
    for (int j = 0; j < kTogether; ++j) out[first + j] += sum(totals[j]) + rest[j];
  }
}

// Mean and 1 / sd of a row, for `norm`. The sum is one of differences from a number of the row, so that
// equal numbers have themselves as their mean: what a rounded mean leaves of them, a norm makes large.
inline void row_moments(const float* a, int64_t columns, float& mean, float& scale) {
  mean = a[0] + row_sum(a, columns, a[0]) / static_cast<float>(columns);
  vec total = {};
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) {
    const vec d = load(a + i) - mean;
    total += d * d;
  }
  float rest = 0;
  for (; i < columns; ++i) rest += (a[i] - mean) * (a[i] - mean);
  const float variance = (sum(total) + rest) / static_cast<float>(columns);
  scale = 1.0f / std::sqrt(variance + kNormEpsilon);
}

inline void norm_rows(float* out, const Span& s, bool add) {
  for (int64_t at = 0; at < s.floats; at += s.row) {
    const float* a = s.in[0] + at;
    float mean, scale;
    row_moments(a, s.columns, mean, scale);
    for (int64_t i = 0; i < s.row; i += kLanes) {
      const vec v = (load(a + i) - mean) * scale;
      store(out + at + i, add ? load(out + at + i) + v : v);
    }
  }
}

// d_norm: (g - mean(g) - y * mean(g * y)) / sd, with y the normalised row.
inline void norm_gradient_rows(float* out, const Span& s, bool add) {
  for (int64_t at = 0; at < s.floats; at += s.row) {
    const float* g = s.in[0] + at;
    const float* a = s.in[1] + at;
    float mean, scale;
    row_moments(a, s.columns, mean, scale);
    const float count = static_cast<float>(s.columns);
    const float mean_g = row_sum(g, s.columns) / count;
    float g_dot_d = 0;
    vec total = {};
    int64_t k = 0;
    for (; k + kLanes <= s.columns; k += kLanes) total += load(g + k) * (load(a + k) - mean);
    for (; k < s.columns; ++k) g_dot_d += g[k] * (a[k] - mean);
    const float g_dot_y = (sum(total) + g_dot_d) * scale / count;
    for (int64_t i = 0; i < s.row; i += kLanes) {
      const vec y = (load(a + i) - mean) * scale;
      const vec v = (load(g + i) - mean_g - y * g_dot_y) * scale;
      store(out + at + i, add ? load(out + at + i) + v : v);
    }
  }
}

}  // namespace

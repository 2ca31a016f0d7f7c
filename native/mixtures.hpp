// Weighted activations of one value, as the edges of supernets have them, and their gradients.
#pragma once

#include "elementwise.hpp"

namespace {

constexpr int kTanh = 1, kSigmoid = 2, kRelu = 4, kLeaky = 8, kIdentity = 16;
constexpr int kActivations = 5;
constexpr int kMostTargets = 16;  // of one step, as in mixtures.py
// What DARTS' edges choose from has code of its own, in which nothing depends on the bits.
constexpr int kUsual = kTanh | kSigmoid | kRelu | kIdentity;

constexpr int bits_in(int bits) {
  int count = 0;
  for (; bits; bits &= bits - 1) ++count;
  return count;
}

// Which activations are weighed, and where their weights are: those of one target after the other.
struct Mixture {
  int bits, first;
  const float* weights;
  int count;

  Mixture(int arg, const float* theta)
      : bits(arg % 32), first(arg / 32), weights(theta + first), count(bits_in(bits)) {}
};

// The chosen activations of x, in the order of their bits. Known: the bits, or 0 if only `bits` says.
template <int Known>
inline void activations(int bits, vec x, vec* values) {
  const int chosen = Known ? Known : bits;
  int n = 0;
  if ((chosen & kTanh) && (chosen & kSigmoid)) {
    tanh_and_sigmoid(x, values[0], values[1]);
    n = 2;
  } else if (chosen & kTanh) {
    values[n++] = tanh(x);
  } else if (chosen & kSigmoid) {
    values[n++] = sigmoid(x);
  }
  if (chosen & kRelu) values[n++] = x < 0.0f ? vec{} : x;
  if (chosen & kLeaky) values[n++] = x < 0.0f ? x * 0.01f : x;
  if (chosen & kIdentity) values[n++] = x;
}

// The sum over activations of `factors` times their slopes at x.
template <int Known>
inline vec times_slopes(int bits, vec x, const vec* values, const vec* factors) {
  const int chosen = Known ? Known : bits;
  vec total = {};
  int n = 0;
  if (chosen & kTanh) {
    total += factors[n] * (1.0f - values[n] * values[n]);
    ++n;
  }
  if (chosen & kSigmoid) {
    total += factors[n] * (values[n] - values[n] * values[n]);
    ++n;
  }
  if (chosen & kRelu) total += x <= 0.0f ? vec{} : factors[n++];
  if (chosen & kLeaky) {
    total += x > 0.0f ? factors[n] : factors[n] * 0.01f;
    ++n;
  }
  if (chosen & kIdentity) total += factors[n];
  return total;
}

// A vector of a row that has `left` columns more: what is behind them counts as 0.
template <bool Last>
inline vec load_columns(const float* a, int64_t left) {
  if (!Last) return load(a);
  ivec lane = {};
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  return lane < static_cast<int32_t>(left) ? load(a) : vec{};
}

template <int Known, bool Add, int Vectors>
inline void mix_tile(float* const* out, int targets, const float* a, int64_t at, const Mixture& mix) {
  const int count = Known ? bits_in(Known) : mix.count;
  vec values[Vectors][kActivations];
  for (int v = 0; v < Vectors; ++v) activations<Known>(mix.bits, load(a + at + v * kLanes), values[v]);
  const float* weight = mix.weights;
  for (int k = 0; k < targets; ++k, weight += count) {
    float* to = out[k] + at;
    vec totals[Vectors];
    for (int v = 0; v < Vectors; ++v) totals[v] = Add ? load(to + v * kLanes) : vec{};
    for (int j = 0; j < count; ++j)
      for (int v = 0; v < Vectors; ++v) totals[v] += values[v][j] * weight[j];
    for (int v = 0; v < Vectors; ++v) store(to + v * kLanes, totals[v]);
  }
}

// Weighs the activations of one value for each of several targets.
template <int Known, bool Add>
void mix_activations(float* const* out, int targets, const Span& s, const Mixture& mix) {
  constexpr int kTogether = kLanes == 16 ? 4 : 2;
  int64_t i = 0;
  for (; i + kTogether * kLanes <= s.floats; i += kTogether * kLanes)
    mix_tile<Known, Add, kTogether>(out, targets, s.in[0], i, mix);
  for (; i < s.floats; i += kLanes) mix_tile<Known, Add, 1>(out, targets, s.in[0], i, mix);
}

// The gradient of the mixed value for a few vectors of a row, from those of all targets, and the
// weights' gradients, lane by lane.
template <int Known, int Vectors, bool Last>
inline void mix_gradient_tile(float* out, bool add, const float* a, const float* const* gradients,
                              int targets, int64_t at, int64_t left, const Mixture& mix, vec* dots) {
  const int count = Known ? bits_in(Known) : mix.count;
  vec values[Vectors][kActivations];
  vec factors[Vectors][kActivations];
  for (int v = 0; v < Vectors; ++v) {
    activations<Known>(mix.bits, load_columns<Last>(a + at + v * kLanes, left), values[v]);
    for (int j = 0; j < count; ++j) factors[v][j] = vec{};
  }
  const float* weight = mix.weights;
  for (int k = 0; k < targets; ++k, weight += count, dots += count) {
    vec sums[kActivations];
    for (int j = 0; j < count; ++j) sums[j] = dots[j];
    for (int v = 0; v < Vectors; ++v) {
      const vec g = load_columns<Last>(gradients[k] + at + v * kLanes, left);
      for (int j = 0; j < count; ++j) {
        sums[j] += g * values[v][j];
        factors[v][j] += g * weight[j];
      }
    }
    for (int j = 0; j < count; ++j) dots[j] = sums[j];
  }
  for (int v = 0; v < Vectors; ++v) {
    float* to = out + at + v * kLanes;
    const vec x = load_columns<Last>(a + at + v * kLanes, left);
    const vec result = times_slopes<Known>(mix.bits, x, values[v], factors[v]);
    store(to, add ? load(to) + result : result);
  }
}

// Inputs: the value, then the gradients of the targets. May write over the value.
template <int Known>
void mix_activations_gradient(float* out, bool add, const Span& s, const Mixture& mix,
                              float* theta_gradient, int64_t thetas) {
  constexpr int kTogether = kLanes == 16 ? 4 : 2;
  const int targets = s.count - 1;
  const int sums = targets * mix.count;
  const float* a = s.in[0];
  const float* const* g = s.in + 1;
  float* to = theta_gradient + mix.first;
  for (int64_t row = 0; row < s.floats; row += s.row, to += thetas) {
    vec dots[kMostTargets * kActivations];
    for (int j = 0; j < sums; ++j) dots[j] = vec{};
    int64_t i = 0;
    for (; i + kTogether * kLanes <= s.columns; i += kTogether * kLanes)
      mix_gradient_tile<Known, kTogether, false>(out, add, a, g, targets, row + i, 0, mix, dots);
    for (; i + kLanes <= s.columns; i += kLanes)
      mix_gradient_tile<Known, 1, false>(out, add, a, g, targets, row + i, 0, mix, dots);
    for (; i < s.row; i += kLanes)
      mix_gradient_tile<Known, 1, true>(out, add, a, g, targets, row + i, s.columns - i, mix, dots);
    add_sums(to, dots, sums);
  }
}

// An edge of DARTS' supernet: a blend, by a gate, of weighted activations of one value with another
// value, whose weight follows theirs. Inputs: the gate, the one value, the other.
template <int Known, bool Add>
void highway(float* out, const Span& s, const Mixture& mix) {
  const int count = Known ? bits_in(Known) : mix.count;
  const float* gate = s.in[0];
  const float* a = s.in[1];
  const float* b = s.in[2];
  const float* weights = mix.weights;
  each<Add>(out, s.floats, [=](int64_t i) {
    vec values[kActivations];
    activations<Known>(mix.bits, load(a + i), values);
    const vec carried = load(b + i) * weights[count];
    vec total = {};
    for (int j = 0; j < count; ++j) total += values[j] * weights[j];
    return carried + load(gate + i) * (total - carried);
  });
}

// Where the gradients of an edge's gate, before its sigmoid, of its value and of the other go.
struct HighwayGradients {
  float* gate;
  float* value;
  float* carried;
  bool add;  // to the last
};

template <int Known, bool Last>
inline void highway_gradient_vector(const HighwayGradients& to, const Span& s, int64_t at,
                                    int64_t left, const Mixture& mix, vec* dots) {
  const int count = Known ? bits_in(Known) : mix.count;
  const float* weights = mix.weights;
  const vec g = load_columns<Last>(s.in[0] + at, left);
  const vec gate = load_columns<Last>(s.in[1] + at, left);
  const vec x = load_columns<Last>(s.in[2] + at, left);
  const vec other = load_columns<Last>(s.in[3] + at, left);
  vec values[kActivations], factors[kActivations];
  activations<Known>(mix.bits, x, values);
  const vec d_mixed = g * gate;
  const vec d_carried = g - d_mixed;
  vec total = {};
  for (int j = 0; j < count; ++j) {
    total += values[j] * weights[j];
    dots[j] += d_mixed * values[j];
    factors[j] = all(weights[j]);
  }
  dots[count] += d_carried * other;
  const vec carried = d_carried * weights[count];
  store(to.carried + at, to.add ? load(to.carried + at) + carried : carried);
  store(to.value + at, d_mixed * times_slopes<Known>(mix.bits, x, values, factors));
  store(to.gate + at, d_carried * gate * (total - other * weights[count]));
}

// Inputs: the gradient of the result, the gate, the value, the other.
template <int Known>
void highway_gradient(const HighwayGradients& to, const Span& s, const Mixture& mix,
                      float* theta_gradient, int64_t thetas) {
  const int sums = (Known ? bits_in(Known) : mix.count) + 1;
  float* d_theta = theta_gradient + mix.first;
  for (int64_t row = 0; row < s.floats; row += s.row, d_theta += thetas) {
    vec dots[kActivations + 1] = {};
    int64_t i = 0;
    for (; i + kLanes <= s.columns; i += kLanes)
      highway_gradient_vector<Known, false>(to, s, row + i, 0, mix, dots);
    for (; i < s.row; i += kLanes)
      highway_gradient_vector<Known, true>(to, s, row + i, s.columns - i, mix, dots);
    add_sums(d_theta, dots, sums);
  }
}

}  // namespace

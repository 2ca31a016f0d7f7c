// Vectors of floats by the compiler's own vector types: the same text serves every
// instruction set, and the register width follows from the target that is compiled for.
// Included once per instruction set; everything here is local to the including file.
#pragma once

#include <cstdint>
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

typedef float vec __attribute__((vector_size(4 * kLanes)));
typedef int32_t ivec __attribute__((vector_size(4 * kLanes)));
typedef uint32_t uvec __attribute__((vector_size(4 * kLanes)));  // bits, which may run over
typedef float loose_vec __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));

// Half as many lanes, for the ends of rows: an operation on them takes half the time on some machines.
constexpr int kHalf = kLanes / 2;
typedef float half_vec __attribute__((vector_size(4 * kHalf)));
typedef float loose_half __attribute__((vector_size(4 * kHalf), aligned(4), may_alias));

inline half_vec load_half(const float* p) { return *reinterpret_cast<const loose_half*>(p); }
inline void store_half(float* p, half_vec v) { *reinterpret_cast<loose_half*>(p) = v; }

inline vec load(const float* p) { return *reinterpret_cast<const loose_vec*>(p); }
inline void store(float* p, vec v) { *reinterpret_cast<loose_vec*>(p) = v; }
inline vec all(float x) { return vec{} + x; }

// The smaller, or larger, of x and a bound, in one instruction where there is one; a NaN stays one.
inline vec at_most(vec x, float bound) {
#if defined(__AVX512F__)
  return _mm512_maskz_min_ps(static_cast<__mmask16>(-1), all(bound), x);
#elif defined(__AVX__)
  return _mm256_min_ps(all(bound), x);
#else
  return x > bound ? all(bound) : x;
#endif
}

inline vec at_least(vec x, float bound) {
#if defined(__AVX512F__)
  return _mm512_maskz_max_ps(static_cast<__mmask16>(-1), all(bound), x);
#elif defined(__AVX__)
  return _mm256_max_ps(all(bound), x);
#else
  return x < bound ? all(bound) : x;
#endif
}

// a * b + c, rounded once where the machine can. The compiler does the same to a sum with a product in it
// where it likes, which may be in one of two copies of a loop: where copies have to agree, it is said.
inline vec fused(vec a, vec b, vec c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f32(c, a, b);
#else
  return a * b + c;
#endif
}

inline vec square_root(vec x) {
#if defined(__AVX512F__)
  return _mm512_maskz_sqrt_ps(static_cast<__mmask16>(-1), x);
#elif defined(__AVX__)
  return _mm256_sqrt_ps(x);
#else
  vec root = {};
  for (int i = 0; i < kLanes; ++i) root[i] = __builtin_sqrtf(x[i]);
  return root;
#endif
}

constexpr int32_t kSign = INT32_MIN;  // the bit of a float's sign

inline vec magnitude_of(vec x) { return reinterpret_cast<vec>(reinterpret_cast<ivec>(x) & ~kSign); }

// A number of at least 0, with the sign of x.
inline vec with_sign_of(vec number, vec x) {
  return reinterpret_cast<vec>(reinterpret_cast<ivec>(number) | (reinterpret_cast<ivec>(x) & kSign));
}

// e^x / 2^n for the integer n next to x / ln 2, by a polynomial.
inline vec exp_remainder(vec x, vec n) {
  const vec r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  vec p = all(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * r * r + r + 1.0f;
}

// e^x to about one unit in the last place for |x| <= 88; a NaN stays one.
inline vec exp_within(vec x) {
  // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
  const vec shifted = x * 1.44269504f + 12582912.0f;
  const vec p = exp_remainder(x, shifted - 12582912.0f);
  const uvec exponent = reinterpret_cast<uvec>(shifted) << 23;
  return reinterpret_cast<vec>(reinterpret_cast<uvec>(p) + exponent);
}

// The same, and e^±88 beyond.
inline vec exp_clamped(vec x) { return exp_within(at_least(at_most(x, 88.0f), -88.0f)); }

// e^x to about one unit in the last place wherever floats reach: infinity above 88.7, numbers
// smaller than the smallest normal one from -87.3 on, and 0 in the end. A NaN stays one.
inline vec exp(vec x) {
  x = at_least(at_most(x, 89.0f), -104.0f);
  const vec shifted = x * 1.44269504f + 12582912.0f;
  const ivec n = reinterpret_cast<ivec>(shifted) - 0x4b400000;
  const ivec half = n >> 1;
  // In two steps, because 2^n alone may be no float where e^x is one.
  const vec one = reinterpret_cast<vec>(reinterpret_cast<uvec>(half + 127) << 23);
  const vec other = reinterpret_cast<vec>(reinterpret_cast<uvec>(n - half + 127) << 23);
  return exp_remainder(x, shifted - 12582912.0f) * one * other;
}

// e^x for x <= 0, and 0 where that is too small to matter: subnormal numbers are slow.
inline vec exp_or_nothing(vec x) { return x < -87.0f ? vec{} : exp_clamped(x); }

// log x to about one unit in the last place for normal numbers above 0. A NaN stays one; what
// comes out for other numbers is finite and means nothing.
inline vec log(vec x) {
  const ivec bits = reinterpret_cast<ivec>(x);
  const vec from_one = reinterpret_cast<vec>((bits & 0x7fffff) | 0x3f800000);
  const vec exponent = __builtin_convertvector((bits >> 23) - 127, vec);
  const ivec upper = from_one > 1.41421356f;  // so that the remainder is near 0 on both sides of 1
  const vec r = (upper ? 0.5f * from_one : from_one) - 1.0f;
  const vec n = upper ? exponent + 1.0f : exponent;
  vec p = all(7.0376836292e-2f);
  p = p * r - 1.1514610310e-1f;
  p = p * r + 1.1676998740e-1f;
  p = p * r - 1.2420140846e-1f;
  p = p * r + 1.4249322787e-1f;
  p = p * r - 1.6668057665e-1f;
  p = p * r + 2.0000714765e-1f;
  p = p * r - 2.4999993993e-1f;
  p = p * r + 3.3333331174e-1f;
  const vec z = r * r;
  const vec y = p * r * z - n * 2.12194440e-4f - 0.5f * z;
  return x != x ? x : r + y + n * 0.693359375f;
}

// 1 / x for 1 <= x <= e^88 + 1: an estimate of 14 bits, and one step of Newton's method, where
// the machine has such an estimate. Division is the slowest part of an activation.
inline vec reciprocal(vec x) {
#if defined(__AVX512F__)
  const vec guess = __builtin_ia32_rcp14ps512_mask(x, vec{}, static_cast<unsigned short>(-1));
  return guess * (2.0f - x * guess);
#else
  return 1.0f / x;
#endif
}

inline vec sigmoid(vec x) {
  const vec y = reciprocal(1.0f + exp_clamped(-x));
  return x < -88.0f ? vec{} : y;
}

// tanh near 0, by a polynomial; a NaN stays one.
inline vec tanh_near(vec x) {
  const vec z = x * x;
  vec p = all(-5.70498872745e-3f);
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  return p * z * x + x;
}

constexpr float kNear = 0.625f;

inline vec tanh(vec x) {
  const vec magnitude = magnitude_of(x);
  const vec power = exp_within(at_most(magnitude + magnitude, 88.0f));
  const vec far = 1.0f - 2.0f * reciprocal(power + 1.0f);
  return magnitude > kNear ? with_sign_of(far, x) : tanh_near(x);  // a NaN is near
}

// Both from one e^-|x|.
inline void tanh_and_sigmoid(vec x, vec& tanh_x, vec& sigmoid_x) {
  const vec magnitude = magnitude_of(x);
  const vec power = magnitude > 87.0f ? vec{} : exp_within(-magnitude);
  const vec square = power * power;
  const vec far = 1.0f - 2.0f * square * reciprocal(square + 1.0f);
  tanh_x = magnitude > kNear ? with_sign_of(far, x) : tanh_near(x);
  const vec share = reciprocal(power + 1.0f);
  sigmoid_x = x < 0.0f ? power * share : share;
}

// The lanes `By` further on, and the first ones behind the last.
template <int By>
inline vec turned(vec v) {
#if defined(__clang__)
  vec result;
  for (int i = 0; i < kLanes; ++i) result[i] = v[(i + By) % kLanes];
  return result;
#else
  ivec places = {};
  for (int i = 0; i < kLanes; ++i) places[i] = (i + By) % kLanes;
  return __builtin_shuffle(v, places);
#endif
}

// Transposes a square of kLanes rows: blocks off the diagonal change places, the largest first.
template <int Width = kLanes / 2>
inline void transpose(vec* rows) {
  ivec right = {};
  for (int i = 0; i < kLanes; ++i) right[i] = i & Width ? -1 : 0;
  for (int i = 0; i < kLanes; ++i) {
    if (i & Width) continue;
    const vec a = rows[i], b = rows[i + Width];
    rows[i] = right ? turned<kLanes - Width>(b) : a;
    rows[i + Width] = right ? b : turned<Width>(a);
  }
  if constexpr (Width > 1) transpose<Width / 2>(rows);
}

// Folds the lanes onto each other, half of them at a time, so that each has the result of all.
template <typename F, int Width = kLanes / 2>
inline vec folded(vec v, F f) {
  const vec half = f(v, turned<Width>(v));
  if constexpr (Width == 1)
    return half;
  else
    return folded<F, Width / 2>(half, f);
}

inline vec largest_lane(vec v) {
  return folded(v, [](vec a, vec b) { return a > b ? a : b; });
}

inline vec sum_of_lanes(vec v) {
  return folded(v, [](vec a, vec b) { return a + b; });
}

// The sum of the lanes of a in lanes without the bit Width, and of b in the others, if all lanes that
// differ in that bit alone are folded onto each other.
template <int Width>
inline vec folded_pair(vec a, vec b) {
  ivec right = {};
  for (int i = 0; i < kLanes; ++i) right[i] = i & Width ? -1 : 0;
  return (right ? turned<kLanes - Width>(b) : a) + (right ? b : turned<Width>(a));
}

template <int Width = 4>
inline vec folded_fours(vec v) {
  if constexpr (Width < kLanes)
    return folded_fours<Width * 2>(v + turned<Width>(v));
  else
    return v;
}

inline float sum(vec v) {
  float lanes[kLanes];
  store(lanes, v);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

// to[i] += the sum of the lanes of v[i], for all of them.
inline void add_sums(float* to, const vec* v, int count) {
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    const vec first = folded_pair<1>(v[i], v[i + 1]), second = folded_pair<1>(v[i + 2], v[i + 3]);
    float lanes[kLanes];
    store(lanes, folded_fours(folded_pair<2>(first, second)));
    for (int j = 0; j < 4; ++j) to[i + j] += lanes[j];
  }
  for (; i < count; ++i) to[i] += sum(v[i]);
}

}  // namespace

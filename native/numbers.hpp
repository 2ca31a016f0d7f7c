// What one multiplication of a product takes: a float, or a pair of bfloat16 numbers that follow each
// other in the depth. A pair is as large as a float, so memory for packed matrices is cut up in the
// same way for both; the core that is compiled with CELLWRIGHT_BFLOAT16 multiplies pairs everywhere.
#pragma once

#include <cstdint>

#include "simd.hpp"

namespace {

#ifdef CELLWRIGHT_BFLOAT16

constexpr int64_t kTaken = 2;  // numbers of the depth that one multiplication takes

// Products of bfloat16 numbers are exact in float32, and sums are float32. The instruction takes
// numbers below the smallest normal one for zero. Pairs pass for floats, and are only ever copied.
inline vec multiply_add(vec sum, vec row, float pair) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(row),
                          reinterpret_cast<__m512bh>(_mm512_set1_ps(pair)));
}

inline half_vec multiply_add(half_vec sum, half_vec row, float pair) {
  return _mm256_dpbf16_ps(sum, reinterpret_cast<__m256bh>(row),
                          reinterpret_cast<__m256bh>(_mm256_set1_ps(pair)));
}

#else

constexpr int64_t kTaken = 1;

inline vec multiply_add(vec sum, vec row, float x) { return sum + row * x; }
inline half_vec multiply_add(half_vec sum, half_vec row, float x) { return sum + row * x; }

#endif

// How many multiplications a sum over so many numbers is; the last pair may be filled up with zero.
inline int64_t taken(int64_t depth) { return (depth + kTaken - 1) / kTaken; }

}  // namespace

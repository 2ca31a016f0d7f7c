// Whether floats are still those that were there before.
#pragma once

#include <cstdint>

#include "simd.hpp"

namespace {

// A number that is another one when any of the floats is. A change of one float in a lane always
// shows; of changes of several that a chance of 2^-32 hides in one lane, other lanes know nothing.
inline uint64_t seal_of(const float* floats, int64_t count) {
  constexpr int kChains = 4;
  constexpr uint32_t kFactor = 0x9e3779b1u;
  uvec chains[kChains] = {};
  int64_t i = 0;
  for (; i + kChains * kLanes <= count; i += kChains * kLanes)
    for (int c = 0; c < kChains; ++c)
      chains[c] = chains[c] * kFactor + reinterpret_cast<uvec>(load(floats + i + c * kLanes));
  uint64_t result = 0xcbf29ce484222325u;
  const auto mix = [&result](uint32_t number) {
    result = (result ^ number) * 0x100000001b3u;
    result ^= result >> 29;
  };
  for (; i < count; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, floats + i, sizeof bits);
    mix(bits);
  }
  for (int c = 0; c < kChains; ++c)
    for (int lane = 0; lane < kLanes; ++lane) mix(chains[c][lane]);
  return result | 1;  // 0 stands for nothing
}

}  // namespace

// Products that are deep go block by block, so that a packed panel stays in the nearest cache. The
// blocks follow from the depth alone: so does the order in which numbers are summed.
#pragma once

#include <cstdint>

#include "numbers.hpp"

namespace {

constexpr int64_t kDepth = 192;  // of which a panel fits into the nearest cache
constexpr int64_t kMostDepth = kDepth - (kTaken - 1);  // before pairs are kept together
constexpr int kPanel = 3;        // vectors in a panel of the products that go by blocks

// Depths are cut into equal blocks of at most kDepth. Pairs of numbers stay together.
struct Blocks {
  explicit Blocks(int64_t all) : depth(all), count((all + kMostDepth - 1) / kMostDepth) {}
  int64_t begin(int64_t block) const {
    return block == count ? depth : depth * block / count / kTaken * kTaken;
  }
  int64_t size(int64_t block) const { return begin(block + 1) - begin(block); }
  const int64_t depth;
  const int64_t count;
};

}  // namespace

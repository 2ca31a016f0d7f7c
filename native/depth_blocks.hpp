// Products that are deep go block by block, so that a packed panel stays in the nearest cache. The
// blocks follow from the depth alone: so does the order in which numbers are summed.
#pragma once

#include <cstdint>

namespace {

constexpr int64_t kDepth = 192;  // of which a panel fits into the nearest cache
constexpr int kPanel = 3;        // vectors in a panel of the products that go by blocks

// Depths are cut into equal blocks of at most kDepth.
struct Blocks {
  explicit Blocks(int64_t all) : depth(all), count((all + kDepth - 1) / kDepth) {}
  int64_t begin(int64_t block) const { return depth * block / count; }
  int64_t size(int64_t block) const { return begin(block + 1) - begin(block); }
  const int64_t depth;
  const int64_t count;
};

}  // namespace

// Work that is handed out piece by piece, and the tiles of weight gradients that are one such
// piece's work.
#pragma once

#include <cstring>

#include "gemm.hpp"
#include "packing.hpp"
#include "team.hpp"

namespace {

using namespace cellwright;

// Stages of pieces behind one counter. Each thread goes through the same stages with the same
// numbers of pieces; a piece that was claimed beyond a stage's end belongs to a later stage.
class Pieces {
 public:
  Pieces(Team& team, Queue queue) : team_(team), queue_(queue) {}

  template <typename Work>
  void take(int64_t pieces, Work work) {
    if (!started_) mine_ = claim_next(team_, queue_);
    started_ = true;
    for (; mine_ < passed_ + pieces; mine_ = claim_next(team_, queue_)) work(mine_ - passed_);
    passed_ += pieces;
  }

 private:
  Team& team_;
  const Queue queue_;
  int64_t passed_ = 0;  // pieces of earlier stages
  int64_t mine_ = 0;
  bool started_ = false;
};

inline void copy_tile(float* to, int64_t ldt, const float* from, int64_t ldf, int rows,
                      int64_t columns) {
  for (int r = 0; r < rows; ++r)
    std::memcpy(to + r * ldt, from + r * ldf, sizeof(float) * static_cast<size_t>(columns));
}

// One panel of `height` rows of a weight's gradient: result (+)= transpose(gradient tile) *
// operand, whose panels are 3 vectors wide.
inline void add_gradient_tile(const float* gradient_tile, const float* operand_panels,
                              int64_t depth, int64_t columns, int64_t panel, int height,
                              float* result, bool add, float* spare) {
  const int64_t column = panel * 3 * kLanes;
  const int64_t wide = columns - column < 3 * kLanes ? columns - column : 3 * kLanes;
  const int vectors = static_cast<int>(vectors_of(wide));
  const bool whole = height == kWeightRows && wide == vectors * kLanes;
  float* out = whole ? result + column : spare;
  const int64_t ldc = whole ? columns : 3 * kLanes;
  if (!whole && add) copy_tile(out, ldc, result + column, columns, height, wide);
  const auto run_tile = vectors == 3    ? tile_transposed<3>
                        : vectors == 2  ? tile_transposed<2>
                        : wide <= kHalf ? half_tile_transposed
                                        : tile_transposed<1>;
  run_tile(gradient_tile, operand_panels + column * taken(depth), depth, out, ldc, add);
  if (!whole) copy_tile(result + column, columns, out, ldc, height, wide);
}

}  // namespace

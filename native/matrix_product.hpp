// Products of matrices outside of cells: linear layers, attention, and their gradients.
//
// The threads share out pieces of C: some rows and some panels of columns of one item. Where B is
// one matrix that many rows need, all pack it together first. Elsewhere whoever takes a piece packs
// what it needs of B itself, one block of the depth after the other, so nobody waits. Each number
// is the sum over the blocks in their order, however C was cut.
#pragma once

#include <cstring>

#include "depth_blocks.hpp"
#include "gemm.hpp"
#include "pieces.hpp"

namespace {

using namespace cellwright;

constexpr int64_t kGroupPanels = 8;   // of columns: so much packed fits the second cache
constexpr int64_t kProductRows = 63;  // of A that go over those at a time
constexpr int64_t kTurnedRows = 64;   // the same where A is turned; whole tiles
constexpr int64_t kPiecesPerThread = 4;
constexpr int64_t kSumColumns = 64;
constexpr int64_t kSumRows = 64;  // partial sums keep rounding errors small

// How C is cut.
struct Cut {
  bool together;  // whether B is packed by all, before
  int64_t row_groups;
  int64_t column_groups;
  int64_t pieces;      // of all items
  int64_t sum_pieces;  // behind those
};

int64_t rounded_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t groups_between(int64_t wanted, int64_t least, int64_t most) {
  if (wanted < least) return least;
  return wanted < most ? wanted : most;
}

Cut cut(const MatrixProduct& p) {
  const int64_t panels = panels_of(p.columns, kPanel);
  const int64_t needed = rounded_up(panels, kGroupPanels);
  const int64_t wanted = p.threads > 1 ? kPiecesPerThread * p.threads : 1;
  const bool together = p.threads > 1 && p.batch == 1 && p.rows >= 2 * kProductRows &&
                        panels < 4 * wanted;
  const int64_t sums = p.sums ? rounded_up(p.rows, kSumColumns) : 0;
  if (together) {
    // As many for each thread, if all are equally fast.
    const int64_t each = p.rows / kProductRows / p.threads;
    const int64_t rows = groups_between(each, 1, kPiecesPerThread) * p.threads;
    return {true, rows, 1, rows, sums};
  }
  const int64_t columns = groups_between(rounded_up(wanted, p.batch), needed, panels);
  return {false, 1, columns, p.batch * columns, sums};
}

// The scratch memory: what all share, and one thread's part.
struct ProductMemory {
  float* shared;  // B, if all pack it together
  float* packed;  // a block of B, else
  float* tiles;   // of a turned A
  float* bias;    // padded
  float* spare;   // for tiles at the edge
  int64_t floats;
};

ProductMemory lay_out_product(const MatrixProduct& p, bool together, float* memory, int thread) {
  int64_t used = 0;
  const auto take = [&](int64_t floats) {
    float* const place = memory + used;
    used += padded(floats);
    return place;
  };
  const auto take_own = [&](int64_t floats) {
    return take(padded(floats) * p.threads) + thread * padded(floats);
  };
  const int64_t panels = panels_of(p.columns, kPanel);
  const int64_t group = panels < kGroupPanels ? panels : kGroupPanels;
  const int64_t depth = p.depth < kDepth ? p.depth : kDepth;
  ProductMemory m;
  m.shared = take(together ? packed_size(p.depth, p.columns) : 0);
  m.packed = take_own(together ? 0 : group * kPanel * kLanes * depth);
  m.tiles = take_own(p.a.turned ? kTurnedRows * depth : 0);
  m.bias = take_own(p.bias ? vectors_of(p.columns) * kLanes : 0);
  m.spare = take_own(kMostTileRows * kPanel * kLanes);
  m.floats = used;
  return m;
}

// Some rows of B, in some of its panels.
void pack_operand(const MatrixProduct& p, const float* b, int64_t first_row, int64_t depth,
                  Range panels, float* packed) {
  const int64_t begin = panels.begin * kPanel * kLanes, count = panels.end - panels.begin;
  const int64_t rest = p.columns - begin, most = count * kPanel * kLanes;
  if (p.b.turned)
    pack(b + first_row + begin * p.b.row, 1, p.b.row, depth, rest, kPanel, 0, count, packed);
  else
    pack_rows(b + first_row * p.b.row + begin, p.b.row, depth, rest < most ? rest : most, kPanel,
              packed);
}

// One panel of a tile's rows of C, from a turned A.
void multiply_turned_tile(const MatrixProduct& p, const ProductMemory& m, const float* tile,
                          const float* packed, float* c, int height, int64_t panel, int64_t depth,
                          bool add) {
  const int64_t column = panel * kPanel * kLanes;
  const int64_t rest = p.columns - column;
  const int64_t wide = rest < kPanel * kLanes ? rest : kPanel * kLanes;
  const int64_t vectors = vectors_of(wide);
  const bool whole = height == kWeightRows && wide == vectors * kLanes;
  float* const out = whole ? c + column : m.spare;
  const int64_t ld = whole ? p.columns : vectors * kLanes;
  if (!whole && add) copy_tile(out, ld, c + column, p.columns, height, wide);
  const auto run = vectors == 3   ? tile_transposed<3>
                   : vectors == 2 ? tile_transposed<2>
                                  : tile_transposed<1>;
  run(tile, packed + column * depth, depth, out, ld, add);
  if (!whole) copy_tile(c + column, p.columns, out, ld, height, wide);
}

Range columns_of(const MatrixProduct& p, Range panels) {
  const int64_t end = panels.end * kPanel * kLanes;
  return {panels.begin * kPanel * kLanes, end < p.columns ? end : p.columns};
}

// At most kTurnedRows rows of C, from a turned A whose numbers begin with theirs.
void multiply_turned(const MatrixProduct& p, const ProductMemory& m, const float* a,
                     const float* packed, float* c, int64_t rows, Range panels, int64_t depth,
                     bool add) {
  const auto height = [&](int64_t row) {
    return static_cast<int>(rows - row < kWeightRows ? rows - row : kWeightRows);
  };
  for (int64_t row = 0; row < rows; row += kWeightRows)
    pack_gradient_tile(m.tiles + row * depth, 0, a + row, p.a.row, depth, height(row));
  if (!add && p.bias) {  // the tiles can only add to what is there
    const Range columns = columns_of(p, panels);
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(c + row * p.columns + columns.begin, p.bias + columns.begin,
                  sizeof(float) * static_cast<size_t>(columns.end - columns.begin));
    add = true;
  }
  for (int64_t panel = panels.begin; panel < panels.end; ++panel)
    for (int64_t row = 0; row < rows; row += kWeightRows)
      multiply_turned_tile(p, m, m.tiles + row * depth, packed, c + row * p.columns, height(row),
                           panel, depth, add);
}

void multiply_piece(const MatrixProduct& p, const ProductMemory& m, bool together, int64_t item,
                    Range rows, Range panels) {
  const Blocks blocks(p.depth);
  const float* const a = p.a.numbers + item * p.a.item;
  const float* const b = p.b.numbers + item * p.b.item;
  float* const c = p.c + item * p.rows * p.columns;
  const int64_t all_rows = rows.end - rows.begin, parts = rounded_up(all_rows, kProductRows);
  for (int64_t block = 0; block < blocks.count; ++block) {
    const int64_t first = blocks.begin(block), depth = blocks.size(block);
    if (!together) pack_operand(p, b, first, depth, panels, m.packed);
    // Panels are counted from C's first column, which is not where a thread's own memory begins.
    const float* const packed = together ? m.shared + packed_size(first, p.columns)
                                         : m.packed - panels.begin * kPanel * kLanes * depth;
    if (p.a.turned) {
      for (int64_t row = rows.begin; row < rows.end; row += kTurnedRows)
        multiply_turned(p, m, a + first * p.a.row + row, packed, c + row * p.columns,
                        rows.end - row < kTurnedRows ? rows.end - row : kTurnedRows, panels, depth,
                        block > 0);
      continue;
    }
    const Start start = block > 0 ? Start::add : p.bias ? Start::bias : Start::zero;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t row = rows.begin + all_rows * part / parts;
      const int64_t count = rows.begin + all_rows * (part + 1) / parts - row;
      const Product product = {a + row * p.a.row + first, p.a.row, packed, depth};
      multiply(&product, 1, count, p.columns, kPanel, panels.begin, panels.end,
               c + row * p.columns, p.columns, start, m.bias, m.spare);
    }
  }
}

// Sums over the rows of some columns of what a turned A is turned from.
void sum_columns(const MatrixProduct& p, int64_t piece) {
  const int64_t begin = piece * kSumColumns;
  const int64_t width = p.rows - begin < kSumColumns ? p.rows - begin : kSumColumns;
  float sums[kSumColumns] = {};
  for (int64_t first = 0; first < p.depth; first += kSumRows) {
    const int64_t last = first + kSumRows < p.depth ? first + kSumRows : p.depth;
    float partial[kSumColumns] = {};
    for (int64_t k = first; k < last; ++k) {
      const float* const row = p.a.numbers + k * p.a.row + begin;
      for (int64_t i = 0; i < width; ++i) partial[i] += row[i];
    }
    for (int64_t i = 0; i < width; ++i) sums[i] += partial[i];
  }
  std::memcpy(p.sums + begin, sums, sizeof(float) * static_cast<size_t>(width));
}

// The boundary of two groups of rows; tiles of a turned A stay whole.
int64_t row_boundary(const MatrixProduct& p, int64_t group, int64_t groups) {
  if (group == groups) return p.rows;
  const int64_t row = p.rows * group / groups;
  return p.a.turned ? row / kWeightRows * kWeightRows : row;
}

void run_matrix_product(const MatrixProduct& p, Team& team, int thread) {
  const Cut parts = cut(p);
  const ProductMemory m = lay_out_product(p, parts.together, p.scratch, thread);
  Pieces pieces(team, kGradients);
  const int64_t panels = panels_of(p.columns, kPanel);
  if (p.bias) {
    std::memcpy(m.bias, p.bias, sizeof(float) * static_cast<size_t>(p.columns));
    for (int64_t i = p.columns; i < vectors_of(p.columns) * kLanes; ++i) m.bias[i] = 0;
  }
  if (parts.together) {
    const Blocks blocks(p.depth);
    pieces.take(blocks.count * panels, [&](int64_t piece) {
      const int64_t block = piece / panels, panel = piece % panels;
      const int64_t first = blocks.begin(block), depth = blocks.size(block);
      pack_operand(p, p.b.numbers, first, depth, {panel, panel + 1},
                   m.shared + packed_size(first, p.columns) + panel * kPanel * kLanes * depth);
    });
    wait(team, p.threads);
  }
  pieces.take(parts.pieces + parts.sum_pieces, [&](int64_t piece) {
    if (piece >= parts.pieces) return sum_columns(p, piece - parts.pieces);
    const int64_t rows = piece / parts.column_groups % parts.row_groups;
    const int64_t group = piece % parts.column_groups;
    multiply_piece(p, m, parts.together, piece / parts.column_groups / parts.row_groups,
                   {row_boundary(p, rows, parts.row_groups),
                    row_boundary(p, rows + 1, parts.row_groups)},
                   {panels * group / parts.column_groups,
                    panels * (group + 1) / parts.column_groups});
  });
}

// A team that turns out smaller may cut in another way, and needs no more than both ways need.
int64_t matrix_product_floats(const MatrixProduct& p) {
  const int64_t apart = lay_out_product(p, false, nullptr, 0).floats;
  if (!cut(p).together) return apart;
  const int64_t together = lay_out_product(p, true, nullptr, 0).floats;
  return apart > together ? apart : together;
}

}  // namespace

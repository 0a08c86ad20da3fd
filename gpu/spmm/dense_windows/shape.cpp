#include "gpu/spmm/dense_windows/shape.h"

#include <algorithm>

namespace csrkit::gpu {

namespace {

/// Thousands of clock cycles of dense_windows: a start, and rounds of one window on every
/// multiprocessor. A round takes longer if a window has more than a thousand entries, which a block
/// puts in their places; the narrower the tile, the more. A block that comes to the end of a tile
/// writes its sums; the start has a part of a tile's end in it. Fitted to measured times: f32 in
/// docs/lab/2026-11-22-spmm-h200.md, its ends of tiles in docs/lab/2026-11-30-twelfth-set.md, the
/// others, which have none, in docs/lab/2026-11-28-spmm-f64-windows.md.
struct WindowCosts {
  double start, round, thousand_entries, tile_end;
};
/// By columns of a tile: 32, 64, 128.
constexpr WindowCosts kTwoHalves[] = {
    {21.0, 1.88, 0.71, 5}, {24.6, 2.57, 0.48, 7}, {30.7, 4.75, 0.34, 15}};
constexpr WindowCosts kOneHalf[] = {
    {20.3, 1.42, 0.41, 0}, {24.4, 1.80, 0.71, 0}, {35.8, 2.36, 0.39, 0}};
constexpr WindowCosts kF64[] = {{18.9, 2.07, 3.0, 0}, {25.0, 2.77, 0.83, 0}};

const WindowCosts& costs_of(const WindowShape& shape) {
  const int width = shape.tile_cols / 64;
  switch (shape.kind) {
    case WindowKind::f64: return kF64[width];
    case WindowKind::one_half: return kOneHalf[width];
    case WindowKind::two_halves: break;
  }
  return kTwoHalves[width];
}

}  // namespace

WindowShape::WindowShape(const SpmmSizes& sizes, WindowKind of) : WindowShape(sizes, of, 32) {
  const int widest = of == WindowKind::f64 ? 64 : 128;
  for (int wider = 64; wider <= widest && dense_cols > wider / 2; wider *= 2) {
    const WindowShape other(sizes, of, wider);
    if (other.kilocycles_of_windows(other.mean_entries(), kWindowBlocks) <
        kilocycles_of_windows(mean_entries(), kWindowBlocks)) {
      *this = other;
    }
  }
}

WindowShape::WindowShape(const SpmmSizes& sizes, WindowKind of, int width)
    : rows(sizes.rows),
      cols(sizes.cols),
      dense_cols(sizes.dense_cols),
      nnz(sizes.nnz),
      kind(of),
      window_cols(window_cols_of(of)),
      tile_cols(width) {
  row_tiles = (Offset{rows} + kTileRows - 1) / kTileRows;
  col_tiles = (Offset{dense_cols} + tile_cols - 1) / tile_cols;
  windows = (Offset{cols} + window_cols - 1) / window_cols;
  if (windows == 0) windows = 1;  // C must also be written where A has no columns
  blocks = std::min(kWindowBlocks, units());
  if (blocks == 0) return;
  units_each = units() / blocks;
  longer_blocks = units() % blocks;
}

double WindowShape::mean_entries() const {
  const Offset all = row_tiles * windows;
  return all == 0 ? 0 : static_cast<double>(nnz) / static_cast<double>(all);
}

double WindowShape::kilocycles(double entries, Offset multiprocessors) const {
  const double ends = blocks == 0 ? 0
                                  : static_cast<double>(units()) / static_cast<double>(blocks) /
                                        static_cast<double>(windows);
  return kilocycles_of_windows(entries, multiprocessors) + costs_of(*this).tile_end * ends;
}

double WindowShape::kilocycles_of_windows(double entries, Offset multiprocessors) const {
  const WindowCosts& costs = costs_of(*this);
  // A multiprocessor has one block at a time.
  const Offset turns = (kWindowBlocks + multiprocessors - 1) / multiprocessors;
  const Offset rounds = turns * ((units() + kWindowBlocks - 1) / kWindowBlocks);
  const double crowd = std::max(entries / 1000 - 1, 0.0);
  return costs.start + (costs.round + costs.thousand_entries * crowd) * static_cast<double>(rounds);
}

}  // namespace csrkit::gpu

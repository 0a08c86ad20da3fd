#include "gpu/spmm/dense_windows/shape.h"

#include <algorithm>

namespace csrkit::gpu {

namespace {

/// Thousands of clock cycles of dense_windows (docs/lab/2026-11-22-spmm-h200.md, in f64
/// docs/lab/2026-11-28-spmm-f64-windows.md): a start, and
/// rounds of one window on every multiprocessor. A round takes longer if a window has more than a
/// thousand entries, which a block puts in their places; the narrower the tile, the more.
struct WindowCosts {
  double start, round, thousand_entries;
};
constexpr WindowCosts kWide = {30.7, 4.75, 0.34}, kHalf = {24.6, 2.57, 0.48},
                      kQuarter = {21.0, 1.88, 0.71};
constexpr WindowCosts kHalfF64 = {25.0, 2.77, 0.83}, kQuarterF64 = {18.9, 2.07, 3.0};

const WindowCosts& costs_of(const WindowShape& shape) {
  if (shape.window_cols == window_cols_of(WindowKind::f64)) {
    return shape.tile_cols == 64 ? kHalfF64 : kQuarterF64;
  }
  return shape.tile_cols == 128 ? kWide : shape.tile_cols == 64 ? kHalf : kQuarter;
}

}  // namespace

WindowShape::WindowShape(const SpmmSizes& sizes, WindowKind kind) : WindowShape(sizes, kind, 32) {
  const int widest = kind == WindowKind::f64 ? 64 : 128;
  for (int wider = 64; wider <= widest && dense_cols > wider / 2; wider *= 2) {
    const WindowShape other(sizes, kind, wider);
    if (other.kilocycles(other.mean_entries(), kWindowBlocks) <
        kilocycles(mean_entries(), kWindowBlocks)) {
      *this = other;
    }
  }
}

WindowShape::WindowShape(const SpmmSizes& sizes, WindowKind kind, int width)
    : rows(sizes.rows),
      cols(sizes.cols),
      dense_cols(sizes.dense_cols),
      nnz(sizes.nnz),
      window_cols(window_cols_of(kind)),
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
  const WindowCosts& costs = costs_of(*this);
  // A multiprocessor has one block at a time.
  const Offset turns = (kWindowBlocks + multiprocessors - 1) / multiprocessors;
  const Offset rounds = turns * ((units() + kWindowBlocks - 1) / kWindowBlocks);
  const double crowd = std::max(entries / 1000 - 1, 0.0);
  return costs.start + (costs.round + costs.thousand_entries * crowd) * static_cast<double>(rounds);
}

}  // namespace csrkit::gpu

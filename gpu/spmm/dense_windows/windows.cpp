#include "gpu/spmm/dense_windows/windows.h"

#include <algorithm>
#include <type_traits>

#include "gpu/device/workspace_layout.h"

namespace csrkit::gpu {

namespace {

/// Thousands of clock cycles of dense_windows (docs/lab/2026-11-22-spmm-h200.md): a start, and
/// rounds of one window on every multiprocessor. A round takes longer if a window has more than a
/// thousand entries, which a block puts in their places; the narrower the tile, the more.
struct WindowCosts {
  double start, round, thousand_entries;
};
constexpr WindowCosts kWide = {30.7, 4.75, 0.34}, kHalf = {24.6, 2.57, 0.48},
                      kQuarter = {21.0, 1.88, 0.71};

}  // namespace

WindowShape::WindowShape(const SpmmSizes& sizes) : WindowShape(sizes, 32) {
  for (const int wider : {64, 128}) {
    if (dense_cols <= wider / 2) return;
    const WindowShape other(sizes, wider);
    if (other.kilocycles(other.mean_entries(), kWindowBlocks) <
        kilocycles(mean_entries(), kWindowBlocks)) {
      *this = other;
    }
  }
}

WindowShape::WindowShape(const SpmmSizes& sizes, int width)
    : rows(sizes.rows),
      cols(sizes.cols),
      dense_cols(sizes.dense_cols),
      nnz(sizes.nnz),
      tile_cols(width) {
  row_tiles = (Offset{rows} + kTileRows - 1) / kTileRows;
  col_tiles = (Offset{dense_cols} + tile_cols - 1) / tile_cols;
  windows = (Offset{cols} + kWindowCols - 1) / kWindowCols;
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
  const WindowCosts& costs = tile_cols == 128 ? kWide : tile_cols == 64 ? kHalf : kQuarter;
  // A multiprocessor has one block at a time.
  const Offset turns = (kWindowBlocks + multiprocessors - 1) / multiprocessors;
  const Offset rounds = turns * ((units() + kWindowBlocks - 1) / kWindowBlocks);
  const double crowd = std::max(entries / 1000 - 1, 0.0);
  return costs.start + (costs.round + costs.thousand_entries * crowd) * static_cast<double>(rounds);
}

std::uint64_t lay_out_windows(const WindowShape& shape, std::byte* base, WindowWorkspace* workspace,
                              std::uint64_t* analysis_bytes) {
  WorkspaceLayout layout;
  const auto place = [&](auto*& pointer, std::uint64_t position) {
    using Pointer = std::remove_reference_t<decltype(pointer)>;
    if (base != nullptr) pointer = reinterpret_cast<Pointer>(base + position);
  };
  WindowWorkspace places;
  const Offset windows = shape.row_tiles * shape.windows;
  const Offset b_parts = shape.windows * shape.col_tiles;
  place(places.begins, layout.reserve<Offset>(windows + 1));
  place(places.row_scales, layout.reserve<float>(shape.rows));
  place(places.fma_row_count, layout.reserve<unsigned>(1));
  place(places.fma_rows, layout.reserve<Index>(shape.rows));
  place(places.entries, layout.reserve<WindowEntry>(shape.nnz));
  if (analysis_bytes != nullptr) *analysis_bytes = layout.bytes();
  place(places.counts, layout.reserve<unsigned>(windows));
  place(places.misfits, layout.reserve<int>(b_parts));
  place(places.b_parts,
        layout.reserve_bytes(static_cast<std::uint64_t>(b_parts * shape.b_part_bytes())));
  place(places.partial,
        layout.reserve<float>(shape.blocks * 2 * Offset{kTileRows} * shape.tile_cols));
  place(places.all_by_fma, layout.reserve<int>(1));
  if (workspace != nullptr) *workspace = places;
  return layout.bytes();
}

}  // namespace csrkit::gpu

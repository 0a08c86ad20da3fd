#include "gpu/spmm/dense_windows/windows.h"

#include <algorithm>
#include <type_traits>

#include "gpu/device/workspace_layout.h"

namespace csrkit::gpu {

WindowShape::WindowShape(const SpmmSizes& sizes)
    : rows(sizes.rows), cols(sizes.cols), dense_cols(sizes.dense_cols), nnz(sizes.nnz) {
  tile_cols = dense_cols <= 32 ? 32 : dense_cols <= 64 ? 64 : 128;
  row_tiles = (Offset{rows} + kTileRows - 1) / kTileRows;
  col_tiles = (Offset{dense_cols} + tile_cols - 1) / tile_cols;
  windows = (Offset{cols} + kWindowCols - 1) / kWindowCols;
  if (windows == 0) windows = 1;  // C must also be written where A has no columns
  blocks = std::min(kWindowBlocks, units());
  if (blocks == 0) return;
  units_each = units() / blocks;
  longer_blocks = units() % blocks;
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

#include "gpu/spmm/dense_windows/workspace.h"

#include "gpu/device/workspace_layout.h"

namespace csrkit::gpu {

namespace {

/// Sets a pointer of the workspace, if there is one.
template <class Element>
void place(Element*& pointer, std::byte* base, std::uint64_t position) {
  if (base != nullptr) pointer = reinterpret_cast<Element*>(base + position);
}

}  // namespace

std::uint64_t lay_out_windows(const WindowShape& shape, std::byte* base,
                              WindowWorkspace<float>* workspace, std::uint64_t* analysis_bytes) {
  WorkspaceLayout layout;
  WindowWorkspace<float> places;
  const int halves = shape.kind == WindowKind::two_halves ? 2 : 1;
  const Offset windows = shape.row_tiles * shape.windows;
  const Offset b_parts = shape.windows * shape.col_tiles;
  place(places.begins, base, layout.reserve<Offset>(windows + 1));
  place(places.row_scales, base, layout.reserve<float>(shape.rows));
  place(places.fma_row_count, base, layout.reserve<unsigned>(1));
  place(places.fma_rows, base, layout.reserve<Index>(shape.rows));
  place(places.entries, base, layout.reserve<WindowEntry>(shape.nnz));
  if (analysis_bytes != nullptr) *analysis_bytes = layout.bytes();
  place(places.counts, base, layout.reserve<unsigned>(windows));
  place(places.misfits, base, layout.reserve<int>(b_parts));
  place(places.misfits_of_part, base, layout.reserve<unsigned char>(b_parts * shape.tile_cols));
  place(places.column_misfits, base, layout.reserve<unsigned char>(shape.dense_cols));
  place(places.misfit_list, base, layout.reserve<Index>(shape.dense_cols));
  place(places.misfit_count, base, layout.reserve<unsigned>(1));
  place(places.b_parts, base,
        layout.reserve_bytes(
            static_cast<std::uint64_t>(b_parts * b_part_bytes(shape.tile_cols, halves))));
  place(places.partial, base, layout.reserve<float>(shape.shared_sums()));
  place(places.left_to_fmas, base, layout.reserve<LeftToFmas>(1));
  if (workspace != nullptr) *workspace = places;
  return layout.bytes();
}

std::uint64_t lay_out_windows(const WindowShape& shape, std::byte* base,
                              WindowWorkspace<double>* workspace, std::uint64_t* analysis_bytes) {
  WorkspaceLayout layout;
  WindowWorkspace<double> places;
  const Offset windows = shape.row_tiles * shape.windows;
  place(places.begins, base, layout.reserve<Offset>(windows + 1));
  place(places.values, base, layout.reserve<double>(shape.nnz));
  place(places.positions, base, layout.reserve<std::uint16_t>(shape.nnz));
  if (analysis_bytes != nullptr) *analysis_bytes = layout.bytes();
  place(places.counts, base, layout.reserve<unsigned>(windows));
  place(places.partial, base, layout.reserve<double>(shape.shared_sums()));
  if (workspace != nullptr) *workspace = places;
  return layout.bytes();
}

}  // namespace csrkit::gpu

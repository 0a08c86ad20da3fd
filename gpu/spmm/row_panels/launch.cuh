// The interface of row_panels' kernels, which launch_<kind>.cu and unaligned_<kind>.cu compile.
#pragma once

#include "gpu/spmm/lane_sums.cuh"
#include "gpu/spmm/pieces.cuh"
#include "gpu/spmm/row_panels/lists.h"
#include "gpu/spmm/row_tasks/maker.h"

namespace csrkit::gpu {

template <class Types>
struct RowPanelsOperands {
  DeviceDenseView<const typename Types::Value> b;
  DeviceDenseView<typename Types::Output> c;
  typename Types::Accumulate alpha, beta;
  RowTasks tasks;
  PanelLists lists;                     // values null: every entry is 1
  typename Types::Accumulate* partial;  // slots x rows of a panel x partial_stride
  Offset partial_stride;                // columns, rounded up to whole vectors
  unsigned row_bytes;                   // bytes from one row of B to the next
  AlgebraOf<Types> algebra;
  PieceSlices slices;         // where rows are not aligned
  Index slices_together = 1;  // in 16 bits: so many neighbouring warps take the slices of one panel
};

/// The kernels with accesses of kWidth elements of B. Defined in kernel.cuh, instantiated in
/// launch_<kind>.cu.
template <class Types, int kWidth>
struct RowPanelsKernels {
  /// Queues the multiplication. `whole_cols`: columns of the whole product, of which the operands
  /// may be a panel.
  static void launch(const RowPanelsOperands<Types>& operands, Index whole_cols,
                     cudaStream_t stream);
};

/// The kernels in 16 bits: kWidth is 8 or 4 neighbouring elements of B by one access, or four times
/// 1. Defined in tiles_kernel.cuh, instantiated in launch_<kind>.cu.
template <class Types, int kWidth>
struct TiledPanelsKernels {
  static constexpr int kLaneCols = kWidth == 1 ? 4 : kWidth;
  static constexpr int kSliceCols = 8 * kLaneCols;  // of a warp
  static void launch(const RowPanelsOperands<Types>& operands, cudaStream_t stream);
};

/// The alignment of rows: to vectors; to nothing; to two elements.
enum class PanelOperands : std::uint8_t { aligned, pieces, pairs };

/// The kernels for rows that are not aligned. Sums have the same order as in the others.
template <class Types>
struct PiecesPanelsKernels {
  /// `in_pairs`: rows of B and C begin at multiples of two elements and have an even number of
  /// them.
  static void launch(const RowPanelsOperands<Types>& operands, bool in_pairs, cudaStream_t stream);
};

}  // namespace csrkit::gpu

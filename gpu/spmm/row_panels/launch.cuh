// What row_panels needs to know of its kernels, which are compiled elsewhere: launch_<kind>.cu.
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
  unsigned row_bytes;                   // from one row of B to the next
  AlgebraOf<Types> algebra;
  PieceSlices slices;         // where rows begin anywhere
  Index slices_together = 1;  // in 16 bits: neighbouring warps work on so many slices of one panel
};

/// The kernels that move kWidth elements of B by one access. Defined in kernel.cuh, instantiated in
/// launch_<kind>.cu.
template <class Types, int kWidth>
struct RowPanelsKernels {
  /// Queues the multiplication. `whole_cols`: of the product that the operands are all columns or a
  /// panel of.
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

/// How rows of operands lie: at multiples of vectors; anywhere; anywhere at multiples of two
/// elements.
enum class PanelOperands : std::uint8_t { aligned, pieces, pairs };

/// The kernels for rows that begin anywhere. A sum is made in the same order as by the others.
template <class Types>
struct PiecesPanelsKernels {
  /// `in_pairs`: rows of B and C begin at multiples of two elements, and have a multiple of them.
  static void launch(const RowPanelsOperands<Types>& operands, bool in_pairs, cudaStream_t stream);
};

}  // namespace csrkit::gpu

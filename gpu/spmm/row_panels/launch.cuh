// What row_panels needs to know of its kernels, which are compiled elsewhere: launch_<kind>.cu.
#pragma once

#include "gpu/spmm/lane_sums.cuh"
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
  Index slice_cols = 0;       // turning: of a warp; of several slices a multiple of a vector
  int before = 0;             // turning: elements between a vector's begin and that of row 0 of B
  Index slices_together = 1;  // in 16 bits: neighbouring warps work on so many slices of one panel
};

/// How rows lie: at multiples of vectors; those of B do, in a copy, and those of C do not; or
/// anywhere, and sums turn.
enum class PanelOperands : std::uint8_t { aligned, copied, turning };

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

/// The kernels for rows of C that begin anywhere; B is a copy whose rows are aligned, and filled up
/// to whole vectors of 16 bytes.
template <class Types>
struct CopiedPanelsKernels {
  static void launch(const RowPanelsOperands<Types>& operands, cudaStream_t stream);
};

/// The kernels whose sums turn where rows begin anywhere; at least kFewestRowsTurning rows of B.
/// Fast where lists are sorted (entry_order.h), right in any order.
template <class Types>
struct TurningPanelsKernels {
  static void launch(const RowPanelsOperands<Types>& operands, cudaStream_t stream);
};

}  // namespace csrkit::gpu

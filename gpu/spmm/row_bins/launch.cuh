// What row_bins needs to know of its kernels, which are compiled elsewhere: launch_<kind>.cu.
#pragma once

#include "gpu/spmm/lane_sums.cuh"
#include "gpu/spmm/row_tasks/maker.h"

namespace csrkit::gpu {

template <class Types>
struct RowBinsOperands {
  DeviceCsrView<typename Types::Value> a;
  DeviceDenseView<const typename Types::Value> b;
  DeviceDenseView<typename Types::Output> c;
  typename Types::Accumulate alpha, beta;
  RowTasks tasks;
  typename Types::Accumulate* partial;  // slots x dense_cols
  unsigned row_bytes;                   // from one row of B to the next
  AlgebraOf<Types> algebra;
};

/// The kernels that move kWidth elements of B by one access. Defined in kernel.cuh, instantiated in
/// launch_<kind>.cu.
template <class Types, int kWidth>
struct RowBinsKernels {
  /// Queues the multiplication. `whole_cols`: of the product that the operands are all columns or a
  /// panel of. `prefers_narrow_slices` matters at the full width of 16 bytes only: 128 bytes of a
  /// row of B for a group of lanes instead of 256.
  static void launch(const RowBinsOperands<Types>& operands, Index whole_cols,
                     bool prefers_narrow_slices, cudaStream_t stream);
};

}  // namespace csrkit::gpu

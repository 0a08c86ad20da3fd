// What row_bins needs to know of its kernels, which are compiled elsewhere: launch_<kind>.cu.
#pragma once

#include <limits>

#include "gpu/spmm/lane_sums.cuh"
#include "gpu/spmm/pieces.cuh"
#include "gpu/spmm/row_tasks/maker.h"

namespace csrkit::gpu {

inline constexpr int kRowBinsLog2Warps = 2, kRowBinsThreads = 32 << kRowBinsLog2Warps;

template <class Types>
struct RowBinsOperands {
  DeviceCsrView<typename Types::Value> a;
  DeviceDenseView<const typename Types::Value> b;
  DeviceDenseView<typename Types::Output> c;
  typename Types::Accumulate alpha, beta;
  RowTasks tasks;
  typename Types::Accumulate* partial;  // slots x partial_stride
  Offset partial_stride;                // columns, rounded up to whole vectors
  unsigned row_bytes;                   // from one row of B to the next
  AlgebraOf<Types> algebra;
  bool values_are_wide;  // A's are f32, B's are of 16 bits
  // Of those for one group of lanes each, if there are several slices.
  Offset tasks_at_once = std::numeric_limits<Offset>::max();
  Offset whole_nnz = std::numeric_limits<Offset>::max();  // of what A is or is a block of
  // So few long rows that all of it runs at once: what counts is how often one waits for B.
  bool has_few_long_rows = false;
};

/// The same, for rows of B that are read in pieces.
template <class Types>
struct PiecesOperands : RowBinsOperands<Types> {
  PieceSlices slices;
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

/// How rows of operands lie: at multiples of vectors; anywhere, so that a group of lanes takes them
/// in pieces, an element a lane; anywhere at multiples of two elements, so that it takes pieces of
/// these; or those of B do, in a copy, and those of C do not.
enum class OperandRows : std::uint8_t { aligned, pieces, pairs, copied };

/// Whether there are kernels for pairs of elements.
template <class Types>
inline constexpr bool kHasPairs = sizeof(typename Types::Value) == 4;

/// The kernels for rows that begin anywhere; at least kFewestUnaligned columns.
template <class Types>
struct UnalignedBinsKernels {
  /// `whole_cols` as above. `in_pairs`: rows of B and C begin at multiples of two elements, and
  /// have a multiple of them. The bits are the same.
  static void launch(const RowBinsOperands<Types>& operands, Index whole_cols, bool in_pairs,
                     cudaStream_t stream);
};

/// The kernels in 16 bits for rows of C that begin anywhere. B is a copy whose rows are aligned,
/// and filled up to whole vectors of 16 bytes. Sums are made in the order in which RowBinsKernels
/// makes them.
template <class Types>
struct CopiedBinsKernels {
  static void launch(const RowBinsOperands<Types>& operands, Index whole_cols,
                     bool prefers_narrow_slices, cudaStream_t stream);
};

}  // namespace csrkit::gpu

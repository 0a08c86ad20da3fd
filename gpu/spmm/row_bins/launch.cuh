// The interface of row_bins' kernels, which launch_<kind>.cu and unaligned_<kind>.cu compile.
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
  unsigned row_bytes;                   // bytes from one row of B to the next
  AlgebraOf<Types> algebra;
  bool values_are_wide;  // A's are f32, B's are of 16 bits
  // Tasks of single groups in a launch, if there are several slices.
  Offset tasks_at_once = std::numeric_limits<Offset>::max();
  // nonzeros of the whole matrix, of which A may be a block
  Offset whole_nnz = std::numeric_limits<Offset>::max();
  // So few long rows that all tasks run at once: the number of dependent loads of B decides the
  // time.
  bool has_few_long_rows = false;
  // The fewest nonzeros with which two slices become one of 32 lanes.
  Offset fewest_for_wide = kEntriesAtOnce;
};

/// Operands whose rows of B are read in pieces.
template <class Types>
struct PiecesOperands : RowBinsOperands<Types> {
  PieceSlices slices;
};

/// The kernels with accesses of kWidth elements of B. Defined in kernel.cuh, instantiated in
/// launch_<kind>.cu.
template <class Types, int kWidth>
struct RowBinsKernels {
  /// Queues the multiplication. `whole_cols`: columns of the whole product, of which the operands
  /// may be a panel. `prefers_narrow_slices` matters only at the full width of 16 bytes: a group of
  /// lanes then takes 128 bytes of a row of B instead of 256.
  static void launch(const RowBinsOperands<Types>& operands, Index whole_cols,
                     bool prefers_narrow_slices, cudaStream_t stream);
};

/// The alignment of rows: to vectors; to nothing, so a lane takes single elements of pieces; to two
/// elements, so a lane takes pairs; or B's rows are aligned in a copy, and C's are not.
enum class OperandRows : std::uint8_t { aligned, pieces, pairs, copied };

/// Whether kernels for pairs of elements are compiled.
template <class Types>
inline constexpr bool kHasPairs = sizeof(typename Types::Value) == 4;

/// The kernels for rows that are not aligned; for at least kFewestUnaligned columns.
template <class Types>
struct UnalignedBinsKernels {
  /// `whole_cols` as above. `in_pairs`: rows of B and C begin at multiples of two elements and have
  /// an even number of them. The bits are the same.
  static void launch(const RowBinsOperands<Types>& operands, Index whole_cols, bool in_pairs,
                     cudaStream_t stream);
};

/// The kernels in 16 bits for rows of C that are not aligned. B is a copy with aligned rows, padded
/// to whole vectors of 16 bytes. Sums have the same order as in RowBinsKernels.
template <class Types>
struct CopiedBinsKernels {
  static void launch(const RowBinsOperands<Types>& operands, Index whole_cols,
                     bool prefers_narrow_slices, cudaStream_t stream);
};

}  // namespace csrkit::gpu

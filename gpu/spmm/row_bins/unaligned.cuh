// The launches of row_bins where rows of B or C begin anywhere. A file for every kind, as
// for kernel.cuh.
#pragma once

#include "gpu/spmm/row_bins/kernel.cuh"

namespace csrkit::gpu {

template <class Types, int kWidth, int kLanes, OperandRows kRows, class Operands>
void launch_unaligned(const Operands& all, Index slice_cols, cudaStream_t stream) {
  // In 16 bits, and on copies, one kernel does both.
  constexpr bool kAlwaysScales = kRows != OperandRows::pieces || sizeof(typename Types::Value) == 2;
  constexpr int kBlocks =
      kRows == OperandRows::pieces && kWidth == 3 ? kRowBinsMoreBlocks : kRowBinsBlocks;
  const RowTasks& tasks = all.tasks;
  const Offset warps = tasks.warp_task_count + tasks.task_count * kLanes / 32;
  const Offset blocks =
      tasks.block_task_count + (warps * 32 + kRowBinsThreads - 1) / kRowBinsThreads;
  for_slices(all, slice_cols, blocks, [&](const Operands& slices, dim3 grid) {
    if (all.alpha != 1 || all.beta != 0) {
      multiply_bins<Types, kWidth, kLanes, true, true, kBlocks, kRows>
          <<<grid, kRowBinsThreads, 0, stream>>>(slices);
    } else {
      multiply_bins<Types, kWidth, kLanes, true, kAlwaysScales, kBlocks, kRows>
          <<<grid, kRowBinsThreads, 0, stream>>>(slices);
    }
    CHECK_LAUNCH("multiply_bins", stream);
  });
}

/// kMostPieces a lane at most, and no more than it takes: a piece that no lane has would be asked
/// for all the same.
template <int kMostPieces, int kLanes, class Types>
void launch_in_pieces(const RowBinsOperands<Types>& all, cudaStream_t stream) {
  constexpr Index kMostCols = kMostPieces * kLanes;
  // Slices alike: one of a few columns would cost as much as the others.
  const Index slices = (all.c.cols + kMostCols - 1) / kMostCols;
  const Index slice_cols = ((all.c.cols + slices - 1) / slices + kLanes - 1) / kLanes * kLanes;
  const PiecesOperands<Types> operands{all, slice_cols};
  if constexpr (kMostPieces == 4) {
    if (slice_cols <= 3 * kLanes) {
      return launch_unaligned<Types, 3, kLanes, OperandRows::pieces>(operands, slice_cols, stream);
    }
  }
  launch_unaligned<Types, kMostPieces, kLanes, OperandRows::pieces>(operands, slice_cols, stream);
}

template <class Types>
void UnalignedBinsKernels<Types>::launch_pieces(const RowBinsOperands<Types>& operands,
                                                Index whole_cols, cudaStream_t stream) {
  constexpr int kMost = unaligned_width(static_cast<int>(sizeof(typename Types::Value)));
  if (whole_cols <= 32) return launch_in_pieces<2, 16>(operands, stream);
  if constexpr (kMost > 2) {
    if (whole_cols <= 64) return launch_in_pieces<kMost, 16>(operands, stream);
  }
  launch_in_pieces<kMost, 32>(operands, stream);
}

template <class Types>
void UnalignedBinsKernels<Types>::launch_copied(const RowBinsOperands<Types>& operands,
                                                Index whole_cols, bool prefers_narrow_slices,
                                                cudaStream_t stream) {
  constexpr int kWidth = 16 / static_cast<int>(sizeof(typename Types::Value));
  const auto launch = [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    launch_unaligned<Types, kWidth, kLanes, OperandRows::copied>(operands, kWidth * kLanes, stream);
  };
  if (whole_cols <= 8 * kWidth || prefers_narrow_slices) {
    return launch(std::integral_constant<int, 8>{});
  }
  launch(std::integral_constant<int, 16>{});
}

}  // namespace csrkit::gpu

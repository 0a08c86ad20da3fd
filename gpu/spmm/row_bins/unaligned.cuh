// The launches of row_bins where rows of B or C begin anywhere. A file for every kind, as
// for kernel.cuh.
#pragma once

#include "gpu/spmm/row_bins/kernel.cuh"

namespace csrkit::gpu {

inline constexpr int kShiftedBlocks = 6;  // per multiprocessor: 80 registers

template <class Types, int kWidth, int kLanes, int kBlocks, OperandRows kRows, class Operands>
void launch_unaligned(const Operands& all, Index slice_cols, cudaStream_t stream) {
  const RowTasks& tasks = all.tasks;
  const Offset warps = tasks.warp_task_count + tasks.task_count * kLanes / 32;
  const Offset blocks =
      tasks.block_task_count + (warps * 32 + kRowBinsThreads - 1) / kRowBinsThreads;
  for_slices(all, slice_cols, blocks, [&](const Operands& slices, dim3 grid) {
    multiply_bins<Types, kWidth, kLanes, true, true, kBlocks, kRows>
        <<<grid, kRowBinsThreads, 0, stream>>>(slices);
    CHECK_LAUNCH("multiply_bins", stream);
  });
}

template <int kLanes, class Types>
void launch_shifted_lanes(const RowBinsOperands<Types>& all, cudaStream_t stream) {
  constexpr int kWidth = kShiftedWidth<Types>;
  constexpr Index kMostCols = kWidth * kLanes;
  // Slices alike: fewer than kMostCols columns need no tails.
  const Index slices = (all.c.cols + kMostCols - 1) / kMostCols;
  const Index slice_cols = ((all.c.cols + slices - 1) / slices + kWidth - 1) / kWidth * kWidth;
  const ShiftedBinsOperands<Types> operands{all, slice_cols, ShiftedRows::of(all.b, kWidth)};
  launch_unaligned<Types, kWidth, kLanes, kShiftedBlocks, OperandRows::shifted>(operands,
                                                                                slice_cols, stream);
}

template <class Types>
void UnalignedBinsKernels<Types>::launch_shifted(const RowBinsOperands<Types>& operands,
                                                 cudaStream_t stream) {
  constexpr int kWidth = kShiftedWidth<Types>;
  const Index cols = operands.c.cols;
  if (cols <= 8 * kWidth) return launch_shifted_lanes<8>(operands, stream);
  if (cols <= 16 * kWidth) return launch_shifted_lanes<16>(operands, stream);
  launch_shifted_lanes<32>(operands, stream);
}

template <class Types>
void UnalignedBinsKernels<Types>::launch_copied(const RowBinsOperands<Types>& operands,
                                                Index whole_cols, bool prefers_narrow_slices,
                                                cudaStream_t stream) {
  constexpr int kWidth = 16 / static_cast<int>(sizeof(typename Types::Value));
  const auto launch = [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    launch_unaligned<Types, kWidth, kLanes, kRowBinsBlocks, OperandRows::copied>(
        operands, kWidth * kLanes, stream);
  };
  if (whole_cols <= 8 * kWidth || prefers_narrow_slices) {
    return launch(std::integral_constant<int, 8>{});
  }
  launch(std::integral_constant<int, 16>{});
}

}  // namespace csrkit::gpu

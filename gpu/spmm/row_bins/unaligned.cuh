// The launches of row_bins where rows of B or C begin anywhere. A file for every kind, as
// for kernel.cuh.
#pragma once

#include "gpu/spmm/row_bins/kernel.cuh"

namespace csrkit::gpu {

/// Blocks of a launch, for one slice of the columns.
template <int kLanes>
Offset bins_blocks(const RowTasks& tasks) {
  const Offset warps = tasks.warp_task_count + tasks.task_count * kLanes / 32;
  return tasks.block_task_count + (warps * 32 + kRowBinsThreads - 1) / kRowBinsThreads;
}

/// kMost pieces a lane at most.
template <int kMost, int kLanes, OperandRows kRows, class Types>
void launch_pieces_of_bins(const RowBinsOperands<Types>& all, cudaStream_t stream) {
  constexpr int kEach = kRows == OperandRows::pairs ? 2 : 1;
  launch_in_pieces<kMost, kEach, kLanes>(
      all.c.cols, [&](auto count, const PieceSlices& slices, unsigned grid_y, bool may_miss) {
        constexpr int kWidth = kEach * decltype(count)::value;
        constexpr bool kIsF64 = sizeof(typename Types::Value) == 8;
        constexpr bool kIsSmall = kWidth == 1 || (kWidth <= 3 && !kIsF64);
        constexpr int kBlocks = kIsSmall                ? kRowBinsMoreBlocks
                                : kIsF64 && kWidth == 4 ? kRowBinsFewerBlocks
                                                        : kRowBinsBlocks;
        const dim3 grid(static_cast<unsigned>(bins_blocks<kLanes>(all.tasks)), grid_y);
        const PiecesOperands<Types> operands{all, slices};
        if (may_miss || all.alpha != 1 || all.beta != 0) {
          multiply_bins<Types, kWidth, kLanes, true, true, kBlocks, kRows>
              <<<grid, kRowBinsThreads, 0, stream>>>(operands);
        } else {
          multiply_bins<Types, kWidth, kLanes, true, false, kBlocks, kRows>
              <<<grid, kRowBinsThreads, 0, stream>>>(operands);
        }
        CHECK_LAUNCH("multiply_bins", stream);
      });
}

/// The order of a sum depends on the number of lanes, which is that of pairs, too. Eight lanes have
/// up to 24 columns. In f32, in small matrices that have a step of eight entries for every warp,
/// only up to 16, as more lanes wait less. In f64 16 lanes have up to 16 columns in one piece;
/// beyond 32 they take three or four pieces, so that two groups share the instructions of a warp,
/// but in small matrices, where 32 lanes ask for more at once. Few long rows get the fewest lanes.
/// Measured on an H200 and an H100, docs/lab/2026-11-25-spmm-odd-widths.md,
/// 2026-11-26-spmm-odd-why.md, 2026-11-26-spmm-last-cliffs.md and 2026-11-26-spmm-last-lost.md.
template <class Types>
void UnalignedBinsKernels<Types>::launch(const RowBinsOperands<Types>& operands, Index whole_cols,
                                         bool in_pairs, cudaStream_t stream) {
  constexpr int kMost = unaligned_width(static_cast<int>(sizeof(typename Types::Value)));
  constexpr bool kIsF32 = sizeof(typename Types::Value) == 4;
  constexpr Offset kFewEntries = 1'000'000;  // in f64
  const bool is_small = operands.whole_nnz < (kIsF32 ? kEntriesOfSmall : kFewEntries);
  const bool fills_warps = operands.whole_nnz >= kWarpsAtOnce * kShortRow;
  const Index few_lanes_cols = kIsF32 && is_small && fills_warps ? 16 : 24;
  constexpr auto kPieces = OperandRows::pieces;
  const bool has_few_long_rows = operands.has_few_long_rows && whole_cols > few_lanes_cols;
  if constexpr (kHasPairs<Types>) {
    constexpr auto kPairs = OperandRows::pairs;
    if (in_pairs) {
      if (has_few_long_rows) return launch_pieces_of_bins<2, 8, kPairs>(operands, stream);
      if (whole_cols <= 16) return launch_pieces_of_bins<1, 8, kPairs>(operands, stream);
      if (whole_cols <= few_lanes_cols) {
        return launch_pieces_of_bins<2, 8, kPairs>(operands, stream);
      }
      if (whole_cols <= 32) return launch_pieces_of_bins<1, 16, kPairs>(operands, stream);
      if (whole_cols <= 64) return launch_pieces_of_bins<2, 16, kPairs>(operands, stream);
      return launch_pieces_of_bins<2, 32, kPairs>(operands, stream);
    }
  }
  if constexpr (kMost > 2) {
    if (has_few_long_rows) return launch_pieces_of_bins<kMost, 8, kPieces>(operands, stream);
    if (whole_cols <= few_lanes_cols) return launch_pieces_of_bins<3, 8, kPieces>(operands, stream);
  } else {
    if (whole_cols <= 16 || has_few_long_rows) {
      return launch_pieces_of_bins<1, 16, kPieces>(operands, stream);
    }
    if (whole_cols > 32 && !is_small) {
      return launch_pieces_of_bins<4, 16, kPieces>(operands, stream);
    }
  }
  if (whole_cols <= 32) return launch_pieces_of_bins<2, 16, kPieces>(operands, stream);
  if constexpr (kMost > 2) {
    if (whole_cols <= 64) return launch_pieces_of_bins<kMost, 16, kPieces>(operands, stream);
  }
  launch_pieces_of_bins<kMost, 32, kPieces>(operands, stream);
}

template <class Types>
void CopiedBinsKernels<Types>::launch(const RowBinsOperands<Types>& operands, Index whole_cols,
                                      bool prefers_narrow_slices, cudaStream_t stream) {
  constexpr int kWidth = 16 / static_cast<int>(sizeof(typename Types::Value));
  const auto launch = [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    for_slices(
        operands, kWidth * kLanes, bins_blocks<kLanes>(operands.tasks),
        [&](const RowBinsOperands<Types>& slices, dim3 grid) {
          multiply_bins<Types, kWidth, kLanes, true, true, kRowBinsBlocks, OperandRows::copied>
              <<<grid, kRowBinsThreads, 0, stream>>>(slices);
          CHECK_LAUNCH("multiply_bins", stream);
        });
  };
  if (whole_cols <= 8 * kWidth || prefers_narrow_slices) {
    return launch(std::integral_constant<int, 8>{});
  }
  launch(std::integral_constant<int, 16>{});
}

}  // namespace csrkit::gpu

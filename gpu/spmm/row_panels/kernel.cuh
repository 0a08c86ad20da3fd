// The kernel of row_panels and its launch. Every kind has a file of its own, as all of them take
// minutes to compile.
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/row_panels/multiply.cuh"
#include "gpu/spmm/row_tasks/slices.cuh"

namespace csrkit::gpu {

inline constexpr int kRowPanelsThreads = 128;
inline constexpr int kRowPanelsBlocks = 5;  // per multiprocessor

template <class Types, int kWidth, int kLanes, bool kScales,
          PanelOperands kOperands = PanelOperands::aligned>
__global__ void __launch_bounds__(kRowPanelsThreads, kRowPanelsBlocks)
    multiply_panels(const RowPanelsOperands<Types> op) {
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const Offset group = (Offset{blockIdx.x} * kRowPanelsThreads + threadIdx.x) / kLanes;
  if (group >= op.tasks.task_count) return;
  using Lanes = PanelGroup<Types, kWidth, kLanes, kScales, kRowPanelsThreads, kOperands>;
  __shared__ typename Lanes::Staged staged;
  const Lanes lanes = Lanes::of(op, staged, lane);

  const RowTask task = op.tasks.tasks[op.tasks.first_task + group];
  Sums<Types, kWidth> sums[kPanelRows];
#pragma unroll
  for (int r = 0; r < kPanelRows; ++r) sums[r].clear(op.algebra);
  if (task.size >= kStrip) {  // a strip of panels without entries
    const Index* panels = op.tasks.row_order + task.target;
#pragma unroll 1
    for (Index i = 0; i < strip_rows(task.size); ++i) lanes.store(sums, __ldg(panels + i));
    return;
  }
  if (op.lists.values != nullptr) {
    lanes.template add_list<true>(sums, task.begin, abs(task.size));
  } else {
    lanes.template add_list<false>(sums, task.begin, abs(task.size));
  }
  if (task.size == 0) return;
  Index panel = task.target;
  if (task.size < 0 && !lanes.meet_other_parts(sums, task.target, Offset{blockIdx.y}, panel))
    return;
  lanes.store(sums, panel);
}

template <int kWidth, int kLanes, class Types>
void launch_panels(const RowPanelsOperands<Types>& all, cudaStream_t stream) {
  const Offset blocks = (all.tasks.task_count * kLanes + kRowPanelsThreads - 1) / kRowPanelsThreads;
  for_slices(all, kWidth * kLanes, blocks, [&](const RowPanelsOperands<Types>& slices, dim3 grid) {
    if (Types::kIsPlusTimes && (all.alpha != 1 || all.beta != 0)) {
      multiply_panels<Types, kWidth, kLanes, Types::kIsPlusTimes>
          <<<grid, kRowPanelsThreads, 0, stream>>>(slices);
    } else {
      multiply_panels<Types, kWidth, kLanes, false><<<grid, kRowPanelsThreads, 0, stream>>>(slices);
    }
    CHECK_LAUNCH("multiply_panels", stream);
  });
}

/// kMost pieces a lane at most.
template <int kMost, int kLanes, PanelOperands kOperands, class Types>
void launch_pieces_of_panels(const RowPanelsOperands<Types>& all, cudaStream_t stream) {
  constexpr int kEach = kOperands == PanelOperands::pairs ? 2 : 1;
  const Offset blocks = (all.tasks.task_count * kLanes + kRowPanelsThreads - 1) / kRowPanelsThreads;
  launch_in_pieces<kMost, kEach, kLanes>(
      all.c.cols, [&](auto count, const PieceSlices& slices, unsigned grid_y, bool may_miss) {
        constexpr int kWidth = kEach * decltype(count)::value;
        const dim3 grid(static_cast<unsigned>(blocks), grid_y);
        RowPanelsOperands<Types> operands = all;
        operands.slices = slices;
        if (may_miss || all.alpha != 1 || all.beta != 0) {
          multiply_panels<Types, kWidth, kLanes, true, kOperands>
              <<<grid, kRowPanelsThreads, 0, stream>>>(operands);
        } else {
          multiply_panels<Types, kWidth, kLanes, false, kOperands>
              <<<grid, kRowPanelsThreads, 0, stream>>>(operands);
        }
        CHECK_LAUNCH("multiply_panels", stream);
      });
}

template <class Types>
void PiecesPanelsKernels<Types>::launch(const RowPanelsOperands<Types>& operands, bool in_pairs,
                                        cudaStream_t stream) {
  constexpr int kMost = unaligned_width(static_cast<int>(sizeof(typename Types::Value)));
  const Index cols = operands.c.cols;
  if constexpr (kMost == 4) {
    constexpr auto kPairs = PanelOperands::pairs;
    if (in_pairs && cols > 64) return launch_pieces_of_panels<2, 32, kPairs>(operands, stream);
    if (in_pairs && cols > 32) return launch_pieces_of_panels<2, 16, kPairs>(operands, stream);
  }
  constexpr auto kPieces = PanelOperands::pieces;
  if (cols <= 16) return launch_pieces_of_panels<2, 8, kPieces>(operands, stream);
  if (cols <= 16 * kMost) return launch_pieces_of_panels<kMost, 16, kPieces>(operands, stream);
  launch_pieces_of_panels<kMost, 32, kPieces>(operands, stream);
}

template <class Types, int kWidth>
void RowPanelsKernels<Types, kWidth>::launch(const RowPanelsOperands<Types>& operands,
                                             Index whole_cols, cudaStream_t stream) {
  if (whole_cols <= 8 * kWidth) return launch_panels<kWidth, 8>(operands, stream);
  if constexpr (kWidth == 16 / sizeof(typename Types::Value)) {
    if (whole_cols <= 16 * kWidth) return launch_panels<kWidth, 16>(operands, stream);
  }
  launch_panels<kWidth, 32>(operands, stream);
}

}  // namespace csrkit::gpu

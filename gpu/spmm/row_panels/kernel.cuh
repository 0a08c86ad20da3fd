// The kernel of row_panels and its launch. Every kind instantiates it in a file of its own:
// together they take minutes to compile.
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
  typename Lanes::PanelSums sums;
#pragma unroll
  for (int r = 0; r < kPanelRows; ++r) sums.row[r].clear(op.algebra);
  if (task.size >= kStrip) {  // of panels without entries
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
  lanes.finish(sums, task.size < 0);
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

template <int kLanes, class Types>
void launch_copied_panels(const RowPanelsOperands<Types>& all, cudaStream_t stream) {
  constexpr int kWidth = 16 / static_cast<int>(sizeof(typename Types::Value));
  const Offset blocks = (all.tasks.task_count * kLanes + kRowPanelsThreads - 1) / kRowPanelsThreads;
  for_slices(all, kWidth * kLanes, blocks, [&](const RowPanelsOperands<Types>& slices, dim3 grid) {
    multiply_panels<Types, kWidth, kLanes, true, PanelOperands::copied>
        <<<grid, kRowPanelsThreads, 0, stream>>>(slices);
    CHECK_LAUNCH("multiply_panels", stream);
  });
}

template <class Types>
void CopiedPanelsKernels<Types>::launch(const RowPanelsOperands<Types>& operands,
                                        cudaStream_t stream) {
  constexpr int kWidth = 16 / static_cast<int>(sizeof(typename Types::Value));
  if (operands.c.cols <= 8 * kWidth) return launch_copied_panels<8>(operands, stream);
  if (operands.c.cols <= 16 * kWidth) return launch_copied_panels<16>(operands, stream);
  launch_copied_panels<32>(operands, stream);
}

template <class Types>
void TurningPanelsKernels<Types>::launch(const RowPanelsOperands<Types>& operands,
                                         cudaStream_t stream) {
  using Value = typename Types::Value;
  constexpr int kWidth = 16 / static_cast<int>(sizeof(Value));
  RowPanelsOperands<Types> all = operands;
  all.before =
      static_cast<int>(reinterpret_cast<std::uintptr_t>(all.b.data) / sizeof(Value) % kWidth);
  // Slices alike: one of a few columns would cost as much as the others.
  const Index slices = TurningSlice<Types, kWidth>::slices_of(all.c.cols, all.before);
  all.slice_cols = all.c.cols;
  if (slices > 1) {
    all.slice_cols = ((all.c.cols + slices - 1) / slices + kWidth - 1) / kWidth * kWidth;
  }
  const Offset warps_per_block = kRowPanelsThreads / kWarpLanes;
  const Offset blocks = (all.tasks.task_count + warps_per_block - 1) / warps_per_block;
  for_slices(all, all.slice_cols, blocks, [&](const RowPanelsOperands<Types>& some, dim3 grid) {
    multiply_panels<Types, kWidth, kWarpLanes, true, PanelOperands::turning>
        <<<grid, kRowPanelsThreads, 0, stream>>>(some);
    CHECK_LAUNCH("multiply_panels", stream);
  });
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

// The kernel of row_panels in 16 bits and its launch. Every kind has a file of its own.
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/row_panels/tiles.cuh"
#include "gpu/spmm/row_tasks/slices.cuh"

namespace csrkit::gpu {

inline constexpr int kTiledPanelsThreads = 128;
/// Blocks per multiprocessor: 64 registers for wide slices, 48 for narrow ones.
template <int kWidth>
inline constexpr int kTiledPanelsBlocks = kWidth == 8 ? 8 : 10;

template <class Types, int kWidth, bool kScales>
__global__ void __launch_bounds__(kTiledPanelsThreads, kTiledPanelsBlocks<kWidth>)
    multiply_tiled_panels(const RowPanelsOperands<Types> op) {
  using Warp = PanelWarp<Types, kWidth, kScales>;
  const Offset warp = (Offset{blockIdx.x} * kTiledPanelsThreads + threadIdx.x) / kWarpLanes;
  const Offset number = warp / op.slices_together;
  if (number >= op.tasks.task_count) return;
  const auto slice =
      static_cast<Index>(Offset{blockIdx.y} * op.slices_together + warp % op.slices_together);
  if (Offset{slice} * TiledPanelsKernels<Types, kWidth>::kSliceCols >= op.c.cols) return;
  const Warp lanes(op, slice);
  const RowTask task = op.tasks.tasks[op.tasks.first_task + number];
  typename Warp::Row rows[2];
  if (task.size >= kStrip) {  // a strip of panels without entries
    rows[0].clear();
    rows[1].clear();
    const Index* panels = op.tasks.row_order + task.target;
#pragma unroll 1
    for (Index i = 0; i < strip_rows(task.size); ++i) lanes.store(rows, __ldg(panels + i));
    return;
  }
  if (task.size == 0) return;
  if constexpr (kWidth == 8) {
    __shared__ PanelRing rings[kTiledPanelsThreads / kWarpLanes];
    lanes.add_list(rows, task.begin, abs(task.size), rings[threadIdx.x / kWarpLanes]);
  } else {
    lanes.add_list(rows, task.begin, abs(task.size));
  }
  Index panel = task.target;
  if (task.size < 0 && !lanes.meet_other_parts(rows, task.target, slice, panel)) return;
  lanes.store(rows, panel);
}

template <class Types, int kWidth>
void TiledPanelsKernels<Types, kWidth>::launch(const RowPanelsOperands<Types>& all,
                                               cudaStream_t stream) {
  constexpr int kWarps = kTiledPanelsThreads / kWarpLanes;
  const Offset blocks = (all.tasks.task_count * all.slices_together + kWarps - 1) / kWarps;
  for_slices(all, Offset{kSliceCols} * all.slices_together, blocks,
             [&](const RowPanelsOperands<Types>& slices, dim3 grid) {
               if (kWidth == 1 || all.alpha != 1 || all.beta != 0) {
                 multiply_tiled_panels<Types, kWidth, true>
                     <<<grid, kTiledPanelsThreads, 0, stream>>>(slices);
               } else {
                 multiply_tiled_panels<Types, kWidth, kWidth == 1>
                     <<<grid, kTiledPanelsThreads, 0, stream>>>(slices);
               }
               CHECK_LAUNCH("multiply_tiled_panels", stream);
             });
}

}  // namespace csrkit::gpu

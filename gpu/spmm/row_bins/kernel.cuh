// The kernel of row_bins and its launch. Every kind has a file of its own, as all of them take
// minutes to compile.
#pragma once

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/row_bins/multiply.cuh"
#include "gpu/spmm/row_tasks/slices.cuh"

namespace csrkit::gpu {

inline constexpr int kRowBinsBlocks = 7;       // per multiprocessor
inline constexpr int kRowBinsMoreBlocks = 8;   // for 16 bytes a load, or few pieces: 64 registers
inline constexpr int kRowBinsFewerBlocks = 6;  // for four pieces of f64

/// Whether most tasks are long rows, in several waves of warps. Fewer warps then have enough loads
/// in flight, and L1 holds more of what each reads again (docs/lab/2026-11-26-spmm-near-rows.md).
inline bool has_long_rows(const RowTasks& tasks) {
  constexpr Offset kSeveralWaves = 12'000;
  return tasks.warp_task_count >= std::max(tasks.task_count, kSeveralWaves);
}

/// kHasBlocks: some tasks take a whole block. Where there are none, code for them would cost 3 to 5
/// %.
template <class Types, int kWidth, int kLanes, bool kHasBlocks, bool kScales, int kBlocks,
          OperandRows kRows = OperandRows::aligned>
__global__ void __launch_bounds__(kRowBinsThreads, kBlocks)
    multiply_bins(const typename RowGroup<Types, kWidth, kLanes, kScales, kRows>::Operands op) {
  using Group = RowGroup<Types, kWidth, kLanes, kScales, kRows>;
  using Value = typename Types::Value;
  constexpr int kGroups = 32 / kLanes;
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const unsigned group_in_warp = threadIdx.x % 32 / kLanes;
  const Offset block_tasks = kHasBlocks ? op.tasks.block_task_count : 0;
  const bool has_block = kHasBlocks && blockIdx.x < block_tasks;
  const Offset warp = ((Offset{blockIdx.x} - block_tasks) * kRowBinsThreads + threadIdx.x) / 32;
  const bool has_warp = has_block || warp < op.tasks.warp_task_count;
  const Offset group = (warp - op.tasks.warp_task_count) * kGroups + group_in_warp;
  if (!has_warp && group >= op.tasks.task_count)
    return;  // whole warps: task_count is a multiple of kTasksPerWarp
  const Group lanes = Group::of(op, lane);

  const Offset number = block_tasks + (has_warp ? warp : op.tasks.warp_task_count + group);
  const RowTask task =
      op.tasks.tasks[op.tasks.first_task + (has_block ? Offset{blockIdx.x} : number)];
  if (task.size >= kStrip)
    return lanes.multiply_strip(task);  // all groups of the warp have strips here
  Sums<Types, kWidth> sums;
  sums.clear(op.algebra);
  const Index* cols = op.a.col_indices + task.begin;
  const Value* values = lanes.values_from(op.a.values, task.begin);
  if (has_warp) {
    auto crew = lanes.warp_crew();
    if (has_block) crew = Group::template block_crew<kRowBinsLog2Warps>();
    lanes.add_long_row(sums, crew, cols, values, abs(task.size));
    if constexpr (kHasBlocks) {
      __shared__
          typename Types::Accumulate sums_of_warps[(1 << kRowBinsLog2Warps) - 1][kLanes * kWidth];
      if (has_block && !add_up_in_first_warp(sums, sums_of_warps)) return;
    }
    if (group_in_warp > 0) return;
  } else {
    lanes.add_row(sums, cols, values, task.size);
  }
  if (task.size == 0) return;
  Index row = task.target;
  if (task.size < 0 && !lanes.meet_other_parts(sums, task.target, blockIdx.y, row)) return;
  lanes.store(sums, row);
}

/// One launch, of all tasks.
template <int kWidth, int kLanes, bool kHasBlocks, int kBlocks, class Types>
void launch_all_bins(const RowBinsOperands<Types>& all, cudaStream_t stream) {
  const RowTasks& tasks = all.tasks;
  const Offset warps = tasks.warp_task_count + tasks.task_count * kLanes / 32;
  const Offset blocks =
      tasks.block_task_count + (warps * 32 + kRowBinsThreads - 1) / kRowBinsThreads;
  for_slices(all, kWidth * kLanes, blocks, [&](const RowBinsOperands<Types>& slices, dim3 grid) {
    if (Types::kIsPlusTimes && (all.alpha != 1 || all.beta != 0)) {
      multiply_bins<Types, kWidth, kLanes, kHasBlocks, Types::kIsPlusTimes, kBlocks>
          <<<grid, kRowBinsThreads, 0, stream>>>(slices);
    } else {
      multiply_bins<Types, kWidth, kLanes, kHasBlocks, false, kBlocks>
          <<<grid, kRowBinsThreads, 0, stream>>>(slices);
    }
    CHECK_LAUNCH("multiply_bins", stream);
  });
}

/// Several launches, each for some of the tasks, if that is wanted and there are several slices.
/// The first one also has the tasks of blocks and warps.
template <int kWidth, int kLanes, bool kHasBlocks, int kBlocks, class Types>
void launch_bins(const RowBinsOperands<Types>& all, cudaStream_t stream) {
  const Offset count = all.tasks.task_count;
  if (all.c.cols <= kWidth * kLanes || count <= all.tasks_at_once) {
    return launch_all_bins<kWidth, kLanes, kHasBlocks, kBlocks>(all, stream);
  }
  RowBinsOperands<Types> some = all;
  RowTasks& tasks = some.tasks;
  for (Offset done = 0; done < count; done += all.tasks_at_once) {
    tasks.task_count = std::min(all.tasks_at_once, count - done);
    launch_all_bins<kWidth, kLanes, kHasBlocks, kBlocks>(some, stream);
    tasks.first_task += tasks.block_task_count + tasks.warp_task_count + tasks.task_count;
    tasks.block_task_count = tasks.warp_task_count = 0;
  }
}

template <int kWidth, int kLanes, class Types>
void launch_widest_bins(const RowBinsOperands<Types>& operands, cudaStream_t stream) {
  if (operands.tasks.block_task_count > 0) {
    constexpr int kBlocks = kLanes == 32 ? kRowBinsBlocks : kRowBinsMoreBlocks;
    return launch_bins<kWidth, kLanes, true, kBlocks>(operands, stream);
  }
  if constexpr (sizeof(typename Types::Value) == 4 && kLanes == 8) {  // no gain in other kinds
    if (has_long_rows(operands.tasks)) {
      return launch_bins<kWidth, kLanes, false, kRowBinsBlocks>(operands, stream);
    }
  }
  launch_bins<kWidth, kLanes, false, kRowBinsMoreBlocks>(operands, stream);
}

/// The columns of a usual slice, of 16 lanes.
template <int kWidth>
inline constexpr Index kSliceCols = 16 * kWidth;

/// Whether slices have 32 lanes instead of 16, so one slice instead of two. With two slices, rows
/// of B and C that are no multiple of a line are cut inside a line, which both slices move, and the
/// fixed cost of a row is paid twice. On the other hand two groups of 16 lanes share a long row:
/// small matrices wait for their longest rows, so there 32 lanes must be nearly full, and matrices
/// with fewer nonzeros than `fewest` keep 16. Of more than two slices, half as many of 32 lanes are
/// used if the last of 16 would be nearly empty, unless a slice of B of 32 exceeds twice L2.
/// Measured on an H100: docs/lab/2026-11-26-spmm-last-cliffs.md, 2026-11-26-spmm-last-lost.md.
template <class Types, int kWidth>
bool prefers_wide_slices(Index cols, Index rows_of_b, Offset whole_nnz, Offset fewest) {
  constexpr Index kSlice = kSliceCols<kWidth>, kLine = kSlice / 2, kMost = 2 * kSlice;
  constexpr Index kNearlyEmpty = 2 * kWidth, kMostRowsOfB = 200'000;
  constexpr int kBytes = sizeof(typename Types::Value);
  if (kBytes < 4 || cols <= kSlice) return false;  // not measured in 16 bits
  const bool is_small = whole_nnz < kEntriesOfSmall;
  if (cols < kMost) {
    const Index most = is_small ? kMost * 15 / 16 : kMost;
    return cols % kLine != 0 && cols <= most && whole_nnz >= fewest;
  }
  const Index last = cols % kSlice;
  return kBytes == 4 && !is_small && rows_of_b <= kMostRowsOfB && cols / kSlice % 2 == 1 &&
         last > 0 && last <= kNearlyEmpty;
}

/// Whether the columns beyond whole slices of 16 lanes, if they are at most half of one, go to
/// eight lanes in a launch of their own: half of the lanes would be idle. Asked before
/// prefers_wide_slices. The launch must be worth it, and strips of short rows keep 16 lanes busy in
/// other ways. The order of long rows' sums depends on the lanes, that of other rows does not, so a
/// block may be asked. Measured on an H200, docs/lab/2026-11-28-spmm-last-slices.md.
template <int kWidth, class Types>
bool has_narrow_rest(const RowBinsOperands<Types>& operands) {
  constexpr Index kSlice = kSliceCols<kWidth>;
  const Index rest = operands.c.cols % kSlice;
  const RowTasks& tasks = operands.tasks;
  return operands.c.cols > kSlice && rest > 0 && rest <= kSlice / 2 &&
         tasks.block_task_count + tasks.warp_task_count == 0 && operands.a.nnz >= kEntriesOfSmall &&
         operands.a.nnz > kShortRow * Offset{operands.a.rows};
}

/// Whole slices of 16 lanes, then the rest by eight.
template <int kWidth, class Types>
void launch_bins_and_rest(const RowBinsOperands<Types>& all, cudaStream_t stream) {
  RowBinsOperands<Types> wide = all, rest = all;
  wide.c.cols = all.c.cols - all.c.cols % kSliceCols<kWidth>;
  rest.b.data += wide.c.cols;
  rest.c.data += wide.c.cols;
  rest.c.cols -= wide.c.cols;
  launch_widest_bins<kWidth, 16>(wide, stream);
  launch_widest_bins<kWidth, 8>(rest, stream);
}

template <class Types, int kWidth>
void RowBinsKernels<Types, kWidth>::launch(const RowBinsOperands<Types>& operands, Index whole_cols,
                                           bool prefers_narrow_slices, cudaStream_t stream) {
  const bool is_narrow = whole_cols <= 8 * kWidth;
  if constexpr (kWidth == 16 / sizeof(typename Types::Value)) {
    if (is_narrow || prefers_narrow_slices) {
      launch_widest_bins<kWidth, 8>(operands, stream);
    } else if (has_narrow_rest<kWidth>(operands)) {
      launch_bins_and_rest<kWidth>(operands, stream);
    } else if (prefers_wide_slices<Types, kWidth>(whole_cols, operands.b.rows, operands.whole_nnz,
                                                  operands.fewest_for_wide)) {
      launch_widest_bins<kWidth, 32>(operands, stream);
    } else {
      launch_widest_bins<kWidth, 16>(operands, stream);
    }
  } else if (is_narrow) {
    if constexpr (Types::kIsPlusTimes && kWidth == 1) {
      if (operands.tasks.block_task_count == 0) {
        return launch_bins<kWidth, 8, false, kRowBinsMoreBlocks>(operands, stream);
      }
    }
    launch_bins<kWidth, 8, true, kRowBinsBlocks>(operands, stream);
  } else {  // narrow accesses: more lanes share the fixed cost of a row
    launch_bins<kWidth, 32, true, kRowBinsBlocks>(operands, stream);
  }
}

}  // namespace csrkit::gpu

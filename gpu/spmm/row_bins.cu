// row_bins: rows of like length side by side, short rows in strips, long rows cut.
// Owns     8, 16 or 32 lanes: one row of C or a strip of short rows of one length, 16 bytes of B per
//          lane wide; the groups of a warp have tasks of about the same length, so none waits for
//          another. Long rows and parts of cut ones: a warp or a block, whose groups take turns, in the
//          order of the rows
// Reads    A once per slice, coalesced, passed on by shuffles; rows of at most eight
//          entries from a copy in which those of one length lie together, so that a strip needs no
//          row offsets and no loop over a row; eight rows of B asked for before the first is used; C
//          written once, evicted first. Parts of cut rows go through the workspace, sums of a block's
//          warps through 1.5 KB of shared memory at most
// Launch   128 threads, 8 blocks per multiprocessor, so at most 64 registers; 7 where loads are narrow.
//          Slices of the columns in the outer grid dimension, so that one slice of B after the other stays
//          in L2 if it fits there
// Needs    nothing: the width of the vectors follows from K, leading dimensions and addresses
// Against  nnz_split: no work at row ends, so half the registers and twice the lanes in flight; the
//          sum of a cut row is made by its last part (arrival counters; the order of the sum is
//          fixed, so the bits are always the same), which saves the second kernel. Still bad: rows of
//          9 to 95 entries are visited out of order, which costs locality where the order of the
//          rows had some; C's stores add to the time of the gather where the slice of B leaves no room for them in L2.

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/spmm/plan.h"
#include "gpu/spmm/row_bins_multiply.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kLog2Warps = 2, kThreads = 32 << kLog2Warps;
constexpr int kBlocksPerMultiprocessor = 7;
constexpr int kMoreBlocks = 8;  // for 16 bytes a load: 64 registers

/// kHasBlocks: there are tasks of a block. Code for them in a kernel that has none would cost 3 to 5 %.
template <class Types, int kWidth, int kLanes, bool kHasBlocks, bool kScales, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks)
    multiply_bins(const RowBinsOperands<Types> op) {
  constexpr int kGroups = 32 / kLanes;
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const unsigned group_in_warp = threadIdx.x % 32 / kLanes;
  const Offset block_tasks = kHasBlocks ? op.tasks.block_task_count : 0;
  const bool has_block = kHasBlocks && blockIdx.x < block_tasks;
  const Offset warp = ((Offset{blockIdx.x} - block_tasks) * kThreads + threadIdx.x) / 32;
  const bool has_warp = has_block || warp < op.tasks.warp_task_count;
  const Offset group = (warp - op.tasks.warp_task_count) * kGroups + group_in_warp;
  if (!has_warp && group >= op.tasks.task_count)
    return;  // whole warps: task_count is a multiple of kTasksPerWarp
  // Of 32 bits, because what lives long must fit into 64 registers, or else every warp writes it to L2.
  const auto column = static_cast<Index>((blockIdx.y * kLanes + threadIdx.x % kLanes) * kWidth);
  const bool has_columns = column < op.c.cols;
  // Lanes beyond the last column read the first one, and drop what they make of it.
  const auto* b_column = reinterpret_cast<const std::byte*>(op.b.data + (has_columns ? column : 0));
  const RowGroup<Types, kWidth, kLanes, kScales> lanes{op, lane, b_column, column, has_columns};

  const Offset number = block_tasks + (has_warp ? warp : op.tasks.warp_task_count + group);
  const RowTask task =
      op.tasks.tasks[op.tasks.first_task + (has_block ? Offset{blockIdx.x} : number)];
  if (task.size >= kStrip)
    return lanes.multiply_strip(task);  // so are the other groups of the warp
  Sums<Types, kWidth> sums;
  sums.clear();
  const Index* cols = op.a.col_indices + task.begin;
  const auto* values = op.a.values == nullptr ? nullptr : op.a.values + task.begin;
  if (has_warp) {
    auto crew = lanes.warp_crew();
    if (has_block) crew = lanes.template block_crew<kLog2Warps>();
    lanes.add_long_row(sums, crew, cols, values, abs(task.size));
    if constexpr (kHasBlocks) {
      __shared__ typename Types::Accumulate sums_of_warps[(1 << kLog2Warps) - 1][kLanes * kWidth];
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

template <class Types>
class RowBins {
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;
  static constexpr Index kFullWidth = 16 / static_cast<Index>(sizeof(Value));

 public:
  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    const RowTaskMaker maker = maker_for(sizes);
    return maker.workspace_bytes() + static_cast<std::uint64_t>(maker.max_slots()) *
                                         static_cast<std::uint64_t>(sizes.dense_cols) *
                                         sizeof(Number);
  }

  std::uint64_t analysis_bytes(const SpmmSizes& sizes) const {
    return maker_for(sizes).workspace_bytes();
  }

  void adopt(const SpmmSizes& sizes, void* workspace) {
    maker_ = maker_for(sizes);
    partial_ =
        reinterpret_cast<Number*>(static_cast<std::byte*>(workspace) + maker_.workspace_bytes());
  }

  void analyse(const DeviceCsrView<Value>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    adopt(sizes, workspace);
    maker_.analyse(a.template as<void>(), workspace, stream);
  }

  void finish_analysis(void* workspace, cudaStream_t stream) {
    tasks_ = maker_.finish(workspace, stream);
    l2_bytes_ = static_cast<double>(current_l2_bytes());
  }

  void launch(const DeviceCsrView<Value>& a, const DeviceDenseView<const Value>& b,
              const DeviceDenseView<typename Types::Output>& c, Number alpha, Number beta, void*,
              cudaStream_t stream) const {
    const auto row_bytes = checked_cast<unsigned, UsageError>(
        b.leading_dim * static_cast<Offset>(sizeof(Value)), "row_bins: a row of B in bytes");
    const RowBinsOperands<Types> operands{a, b, c, alpha, beta, tasks_, partial_, row_bytes};
    int widest = widest_access(b, c);
    // Where half the width in eight lanes has all columns, the full one would leave lanes without any.
    if (widest == kFullWidth && c.cols <= 4 * kFullWidth) widest /= 2;
    with_width<Types>(widest, [&](auto width) {
      constexpr int kWidth = decltype(width)::value;
      const bool is_narrow = c.cols <= 8 * kWidth;
      if constexpr (kWidth == kFullWidth) {
        if (!is_narrow && !prefers_narrow_slices(b.rows)) {
          launch_widest<kWidth, 16>(operands, stream);
        } else {
          launch_widest<kWidth, 8>(operands, stream);
        }
      } else if (is_narrow) {
        launch_slices<kWidth, 8>(operands, stream);
      } else {  // an access moves less, so more lanes share what a row costs
        launch_slices<kWidth, 32>(operands, stream);
      }
    });
  }

  std::string choice() const {
    return std::to_string(tasks_.block_task_count) + " tasks of a block, " +
           std::to_string(tasks_.warp_task_count) + " of a warp, " +
           std::to_string(tasks_.task_count) + " of a part of one, rows above about " +
           std::to_string(maker_.part_entries()) + " nonzeros cut";
  }

 private:
  /// As many slices as there can be: how operands are aligned is not known before they are bound, but
  /// where there are several, each has 32 columns or 128 bytes at least.
  static RowTaskMaker maker_for(const SpmmSizes& sizes) {
    constexpr Index kNarrowest = std::min<Index>(8 * kFullWidth, 32);
    const Offset slices = (Offset{sizes.dense_cols} + kNarrowest - 1) / kNarrowest;
    return {sizes, static_cast<int>(sizeof(Value)), slices, 8 * kFullWidth};
  }

  /// Slices of 128 instead of 256 bytes pay where half of the narrow one fits into L2 and little of the
  /// wide one; measured on an H200, docs/performance.md.
  bool prefers_narrow_slices(Index b_rows) const {
    const double wide = 256.0 * b_rows, narrow = 128.0 * b_rows;
    return wide > 2.5 * l2_bytes_ && narrow < 1.6 * l2_bytes_;
  }

  template <int kWidth, int kLanes>
  void launch_widest(const RowBinsOperands<Types>& operands, cudaStream_t stream) const {
    if (tasks_.block_task_count > 0) {
      launch_slices<kWidth, kLanes, true, kMoreBlocks>(operands, stream);
    } else {
      launch_slices<kWidth, kLanes, false, kMoreBlocks>(operands, stream);
    }
  }

  template <int kWidth, int kLanes, bool kHasBlocks = true, int kBlocks = kBlocksPerMultiprocessor>
  void launch_slices(const RowBinsOperands<Types>& all, cudaStream_t stream) const {
    constexpr Offset kSlice = Offset{kWidth} * kLanes;
    const Offset slices = (Offset{all.c.cols} + kSlice - 1) / kSlice;
    const Offset warps = tasks_.warp_task_count + tasks_.task_count * kLanes / 32;
    const Offset blocks = tasks_.block_task_count + (warps * 32 + kThreads - 1) / kThreads;
    for (Offset first = 0; first < slices; first += kMaxGridY) {
      RowBinsOperands<Types> operands = all;
      operands.b.data += first * kSlice;
      operands.c.data += first * kSlice;
      operands.c.cols = static_cast<Index>(all.c.cols - first * kSlice);
      const Offset now = std::min(slices - first, kMaxGridY);
      const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(now));
      constexpr bool kCanScale = Types::kSemiring == Semiring::plus_times;
      if (kCanScale && (operands.alpha != 1 || operands.beta != 0)) {
        multiply_bins<Types, kWidth, kLanes, kHasBlocks, kCanScale, kBlocks>
            <<<grid, kThreads, 0, stream>>>(operands);
      } else {
        multiply_bins<Types, kWidth, kLanes, kHasBlocks, false, kBlocks>
            <<<grid, kThreads, 0, stream>>>(operands);
      }
      CHECK_LAUNCH("multiply_bins", stream);
    }
  }

  RowTaskMaker maker_;
  RowTasks tasks_;
  Number* partial_ = nullptr;
  double l2_bytes_ = 0;
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_row_bins(const SpmmProblem& problem) {
  return typed_spmm<RowBins>(problem);
}

}  // namespace csrkit::gpu

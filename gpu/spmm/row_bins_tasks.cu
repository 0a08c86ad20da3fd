// What row_bins' analysis takes and leaves: sizes from rows, nnz and dense_cols alone; then the passes.

#include <algorithm>
#include <limits>
#include <utility>

#include "gpu/device/cuda_check.h"
#include "gpu/device/page_locked.h"
#include "gpu/spmm/row_bins_passes.cuh"
#include "gpu/spmm/row_bins_tasks.h"

namespace csrkit::gpu {

using namespace row_bins;

namespace {

// Measured on an H200 (docs/performance.md). Parts that have a warp are as long as leaves so many of them,
// three times what runs at once; parts that a group of lanes has must be shorter, by a factor of two to
// four. Windows of 16,384 rows keep what locality the order of the rows has, in B and in the lines of C that
// L2 writes to memory, but they leave more warps with unlike tasks: they pay from 5 M nonzeros on, where B
// and C are several times as large as L2, and where most rows are in strips, whose warps are full anyway. Below
// kFewEntries, and with few slices, all of the work is a wave or two of warps: the longest row, not the
// mean, says how long they take, so that a block has to share it.
constexpr Offset kManyEntries = 5'000'000;
constexpr double kLargeOperands = 230e6;  // bytes of B and C
constexpr Offset kShortMean = 4;
constexpr Offset kEnoughParts = 12'000;
constexpr Offset kFewEntries = 700'000, kLittleWork = 2'000'000;
constexpr Index kWarpPart = 256, kLongestWarpPart = 1024, kBlockPart = 512;
constexpr Index kNarrowPart = 64, kPart = 128, kLargePart = 256;
constexpr Index kWindowRows = 16 * kRowsPerBlock;
static_assert(bin_of(longest_whole(kLargePart)) < kBins, "a bin for every whole row");

static_assert(sizeof(Totals) <= PageLockedCells::kBytes, "a cell holds them");

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

RowTaskMaker::RowTaskMaker(const SpmmSizes& sizes, int value_bytes, Offset slices,
                           Index one_slice_cols, Index rows_each)
    : rows_(sizes.rows), rows_each_(rows_each), value_bytes_(value_bytes) {
  const bool is_large = sizes.nnz >= kManyEntries;
  const bool is_narrow = sizes.dense_cols <= one_slice_cols;
  shortest_long_ = is_narrow ? kLongNarrowRow : kLongRow;
  if (!has_panels()) {
    // Slices are counted as twice as wide as the narrowest, which is what most are.
    const Offset work = sizes.nnz * ((slices + 1) / 2);
    part_entries_ = kWarpPart;
    while (part_entries_ < kLongestWarpPart && work / (2 * part_entries_) >= kEnoughParts) {
      part_entries_ *= 2;
    }
    if (sizes.nnz < kFewEntries && work < kLittleWork) {
      part_entries_ = kBlockPart;
      shortest_of_block_ = kBlockRow;
      if (is_narrow) shortest_long_ = kLongOfFewRow;
    }
  } else {
    const Index small = is_narrow ? kNarrowPart : kPart;
    part_entries_ = is_large ? kLargePart : small;
  }
  rows_per_block_ = is_large ? kRowsPerBlock : kFewRowsPerBlock;
  blocks_ = (Offset{rows_} + rows_per_block_ - 1) / rows_per_block_;
  const double operand_bytes =
      (static_cast<double>(sizes.rows) + sizes.cols) * sizes.dense_cols * value_bytes;
  const bool has_windows =
      is_large ||
      (!has_panels() && (operand_bytes >= kLargeOperands || sizes.nnz <= kShortMean * sizes.rows));
  // Else one window: as many rows as there are, or the largest multiple of a block that fits an Index.
  window_rows_ =
      has_windows
          ? kWindowRows
          : static_cast<Index>(std::min(std::max<Offset>(blocks_, 1) * rows_per_block_,
                                        Offset{kMaxIndex} / rows_per_block_ * rows_per_block_));
  windows_ = std::max<Offset>((Offset{rows_} + window_rows_ - 1) / window_rows_, 1);

  // A cut row has length > 5/4 part and ceil(length / part) <= 8/5 length / part parts, and one
  // group slot for every 32 parts begun.
  max_cut_rows_ = std::min(Offset{rows_}, sizes.nnz / (longest_whole(part_entries_) + 1));
  const Offset max_row_parts = sizes.nnz / part_entries_ + max_cut_rows_;
  max_parts_ = whole_warps(sizes.nnz / part_entries_);
  max_slots_ = max_row_parts + max_row_parts / kPartsPerGroup + max_cut_rows_;
  const auto max_copied =
      static_cast<std::uint64_t>(has_panels() ? 0 : std::min(sizes.nnz, Offset{rows_} * kShortRow));

  std::uint64_t at = 0;
  const auto reserve = [&at](std::uint64_t bytes) {
    const std::uint64_t here = at;
    at += aligned(bytes);
    return here;
  };
  const auto keys = static_cast<std::uint64_t>(windows_ * kBins);
  totals_at_ = reserve(sizeof(Totals));
  progress_at_ = reserve(sizeof(Progress));
  counts_at_ = reserve(2 * keys * sizeof(Index));  // and `taken`
  long_starts_at_ = reserve(kLongBins * static_cast<std::uint64_t>(blocks_) * sizeof(Index));
  max_counters_ = (max_slots_ + max_cut_rows_) * slices;
  counters_at_ = reserve(static_cast<std::uint64_t>(max_counters_) * sizeof(Index));
  starts_at_ = reserve(keys * sizeof(BinStart));
  const auto max_gaps = static_cast<std::uint64_t>(kTasksPerWarp - 1) * keys;
  tasks_at_ =
      reserve((static_cast<std::uint64_t>(max_parts_ + rows_) + max_gaps) * sizeof(RowTask));
  order_at_ = reserve(static_cast<std::uint64_t>(rows_) * sizeof(Index));
  cols_at_ = reserve(max_copied * sizeof(Index));
  values_at_ = reserve(max_copied * static_cast<std::uint64_t>(value_bytes));
  slots_at_ = reserve(static_cast<std::uint64_t>(max_slots_) * sizeof(Index));
  cut_rows_at_ = reserve(static_cast<std::uint64_t>(max_cut_rows_) * sizeof(CutRow));
  bytes_ = at;
}

RowTasks RowTaskMaker::lay_out(void* workspace) const {
  auto* bytes = static_cast<std::byte*>(workspace);
  RowTasks result;
  result.tasks = reinterpret_cast<RowTask*>(bytes + tasks_at_);
  result.row_order = reinterpret_cast<Index*>(bytes + order_at_);
  result.short_cols = reinterpret_cast<Index*>(bytes + cols_at_);
  result.short_values = bytes + values_at_;
  result.cut_of_slot = reinterpret_cast<Index*>(bytes + slots_at_);
  result.cut_rows = reinterpret_cast<CutRow*>(bytes + cut_rows_at_);
  result.counters = reinterpret_cast<Index*>(bytes + counters_at_);
  return result;
}

void RowTaskMaker::analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream,
                           const Offset* lengths) {
  if (rows_ == 0) return;
  auto* bytes = static_cast<std::byte*>(workspace);
  // Totals, progress and counts lie together, in front.
  CHECK_CUDA(cudaMemsetAsync(bytes, 0, long_starts_at_, stream));
  const RowTasks out = lay_out(workspace);
  Shape shape{};
  shape.offsets = a.row_offsets;
  shape.base = a.base;
  shape.kind = {lengths, rows_each_};
  shape.longest_in_strips = has_panels() ? 0 : kShortRow;
  shape.shortest_long = has_panels() ? std::numeric_limits<Offset>::max() : shortest_long_;
  shape.shortest_of_block =
      has_panels() ? std::numeric_limits<Offset>::max() : Offset{shortest_of_block_};
  shape.rows = rows_;
  shape.rows_per_block = rows_per_block_;
  shape.part_entries = part_entries_;
  shape.window_rows = window_rows_;
  shape.first_row_task = has_panels() ? max_parts_ : 0;
  auto* counts = reinterpret_cast<Index*>(bytes + counts_at_);
  const Offset keys = windows_ * kBins;
  const BinArrays bins{counts,
                       counts + keys,
                       reinterpret_cast<BinStart*>(bytes + starts_at_),
                       static_cast<int>(keys),
                       reinterpret_cast<Index*>(bytes + long_starts_at_),
                       static_cast<int>(blocks_)};
  auto* progress = reinterpret_cast<Progress*>(bytes + progress_at_);
  if (host_totals_ == nullptr) host_totals_ = PageLockedCells::take();
  count_and_scan(shape, bins, out, max_counters_, progress,
                 reinterpret_cast<Totals*>(bytes + totals_at_), static_cast<Totals*>(host_totals_),
                 stream);
  place(a, value_bytes_, shape, bins, out, progress, stream);
}

RowTasks RowTaskMaker::finish(void* workspace, cudaStream_t stream) {
  RowTasks result = lay_out(workspace);
  if (rows_ == 0) return result;
  Totals totals{};
  if (host_totals_ != nullptr) {
    CHECK_CUDA(cudaStreamSynchronize(stream));
    totals = *static_cast<const Totals*>(host_totals_);
    PageLockedCells::give_back(std::exchange(host_totals_, nullptr));
  } else {  // of an analysis that was kept
    CHECK_CUDA(cudaMemcpyAsync(&totals, static_cast<std::byte*>(workspace) + totals_at_,
                               sizeof totals, cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
  }
  const auto parts = static_cast<Offset>(totals.parts);
  const auto tasks = static_cast<Offset>(totals.tasks);
  if (has_panels()) {
    result.first_task = max_parts_ - whole_warps(parts);
    result.task_count = whole_warps(parts) + tasks;
  } else {
    result.block_task_count = static_cast<Offset>(totals.block_tasks);
    result.warp_task_count = static_cast<Offset>(totals.long_tasks) - result.block_task_count;
    result.task_count = tasks - static_cast<Offset>(totals.long_tasks);
  }
  result.counter_count = static_cast<Offset>(totals.counters);
  return result;
}

}  // namespace csrkit::gpu

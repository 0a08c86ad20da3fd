// Lays out a workspace of row tasks, from rows, nnz and dense_cols alone, and fills it.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "gpu/device/cuda_check.h"
#include "gpu/device/page_locked_cells.h"
#include "gpu/device/workspace_layout.h"
#include "gpu/spmm/row_tasks/maker.h"
#include "gpu/spmm/row_tasks/passes.cuh"
#include "gpu/spmm/row_tasks/ranges.h"

namespace csrkit::gpu {

using namespace row_tasks;

namespace {

// Measured on an H200 (docs/lab/2026-11-22-spmm-h200.md). Parts for a warp are as long as possible
// while there are three times as many as run at once. Parts for a group of lanes are shorter by a
// factor of two to four. Ranges of 16,384 rows keep the locality of A's order, in B and in the
// lines of C that L2 writes to memory, but leave more warps with unlike tasks. They pay from 5 M
// nonzeros, where B and C do not fit L2, and where most rows are in strips, whose warps are full
// anyway (docs/lab/2026-11-26-spmm-ranges-and-plans.md). Panels have ranges of 16,384 from 5 M
// nonzeros on, and narrower ones where B and C do not fit L2: what neighbours share should come
// from memory once (docs/lab/2026-11-26-spmm-at-the-mark.md). In matrices of fewer than
// kEntriesOfSmall entries, with few slices, the longest row decides the time, so a block shares it.
constexpr Offset kFewestForRanges = 5'000'000;
constexpr double kLargeOperands = 60e6;  // bytes of B and C
constexpr Offset kEnoughParts = 12'000;
constexpr Offset kLittleWork = 2'000'000;
constexpr Offset kWorkOfOneStep = 50'000;  // where strips of one step pay
// Less work is done before a block has made one row of 600 entries, so such rows are cut.
constexpr Offset kWorkOfShortParts = 75'000;
// Unless eight lanes hold all columns, a group of lanes takes a row alone if that is at most this
// part of what each of the groups that run at once has to do, so that none is late. Twice as many
// rows are then under way, from their first columns on, and name the same rows of B while L1 has
// them (docs/lab/2026-11-30-spmm-rows-of-a-group.md).
constexpr Offset kPartOfAGroup = 3;
constexpr Index kWarpPart = 256, kLongestWarpPart = 1024, kBlockPart = 512;
constexpr Index kNarrowPart = 64, kPart = 128, kLargePart = 256;
constexpr Index kRangeRows = 16 * kRowsPerBlock, kRangePanels = 4 * kRowsPerBlock;
constexpr Index kLongestOfGroup = 320;
static_assert(bin_of(std::max(longest_whole(kLargePart), kLongestOfGroup)) < kBins,
              "a bin for every whole row");

/// The entries of a strip in a small matrix: the fewest steps, which depend on each other, with
/// which all groups of lanes still run at once. Measured on an H100,
/// docs/lab/2026-11-26-spmm-last-cliffs.md.
Index entries_of_small_strips(const SpmmSizes& sizes, Offset slices, Offset groups_of_warp) {
  const Offset rows = std::max<Offset>(sizes.rows, 1), groups = groups_of_warp * kWarpsAtOnce;
  const Offset mean = std::max<Offset>((sizes.nnz + rows - 1) / rows, 1);
  const Offset steps = rows / std::max<Offset>(kShortRow / mean, 1) * slices;
  const Offset each = std::max<Offset>((steps + groups - 1) / groups, 1);
  return static_cast<Index>(std::min<Offset>(each * kOneStepEntries, kStripEntries));
}

/// Whether B and C, of so many rows, exceed L2.
bool has_large_operands(const SpmmSizes& sizes, Offset rows, int value_bytes) {
  const double bytes = (static_cast<double>(rows) + sizes.cols) * sizes.dense_cols * value_bytes;
  return bytes >= kLargeOperands;
}

static_assert(sizeof(Totals) <= PageLockedCells::kBytes, "a cell holds them");

}  // namespace

bool has_ranges(const SpmmSizes& sizes, int value_bytes) {
  return sizes.nnz_of_whole() >= kFewestForRanges ||
         has_large_operands(sizes, sizes.rows, value_bytes) || sizes.nnz <= kShortMean * sizes.rows;
}

RowTaskMaker::RowTaskMaker(const SpmmSizes& sizes, int value_bytes, Offset slices,
                           Index one_slice_cols, Index rows_each, Index bands)
    : rows_(sizes.rows), rows_each_(rows_each), bands_(bands), value_bytes_(value_bytes) {
  if (has_panels()) {
    choose_lengths_of_panels(sizes, one_slice_cols);
  } else {
    choose_lengths_of_rows(sizes, one_slice_cols);
  }
  choose_ranges(sizes);
  reserve(bound(sizes), slices);
}

// The order of sums depends on these lengths, so the whole product's sizes decide on them, and not
// those of a block or a panel of it.

void RowTaskMaker::choose_lengths_of_panels(const SpmmSizes& sizes, Index one_slice_cols) {
  const bool is_narrow = sizes.dense_cols_of_whole() <= one_slice_cols;
  shortest_long_ = is_narrow ? kLongNarrowRow : kLongRow;
  strip_entries_ = kStripEntries;
  longest_in_strips_ = 0;
  // rows of a panel; with tensor cores panels of more rows take no longer
  constexpr Index kFewRows = 4;
  const Index small = (is_narrow ? kNarrowPart : kPart) * (rows_each_ / kFewRows);
  part_entries_ =
      sizes.nnz_of_whole() >= kFewestForRanges ? kLargePart : std::min(small, kLargePart);
}

void RowTaskMaker::choose_lengths_of_rows(const SpmmSizes& sizes, Index one_slice_cols) {
  const auto within = [](Offset length, Index least, Index most) {
    return static_cast<Index>(std::clamp<Offset>(length, least, most));
  };
  const Offset nnz = sizes.nnz_of_whole();
  const bool is_narrow = sizes.dense_cols_of_whole() <= one_slice_cols;
  shortest_long_ = is_narrow ? kLongNarrowRow : kLongRow;
  strip_entries_ = kStripEntries;
  longest_in_strips_ = kShortRow;
  // Assumes slices twice as wide as the narrowest vectors make them, as most are.
  const Offset slice_cols = Offset{2} * one_slice_cols;
  const Offset wide_slices = (sizes.dense_cols_of_whole() + slice_cols - 1) / slice_cols;
  const Offset work = nnz * wide_slices;
  if (work <= kWorkOfOneStep) strip_entries_ = kOneStepEntries;
  part_entries_ = kWarpPart;
  while (part_entries_ < kLongestWarpPart && work / (2 * part_entries_) >= kEnoughParts) {
    part_entries_ *= 2;
  }
  const Offset groups_of_warp = is_narrow ? 4 : 2;
  if (!is_narrow) {
    // Rows that do not fill vectors are read in pieces, up to four columns a lane, whatever their
    // kind.
    constexpr Offset kLanes = 8, kPieceCols = 64;
    const bool has_pieces = sizes.dense_cols_of_whole() % (one_slice_cols / kLanes) != 0;
    const Offset cols_each = has_pieces ? std::max(slice_cols, kPieceCols) : slice_cols;
    const Offset slices = (sizes.dense_cols_of_whole() + cols_each - 1) / cols_each;
    const Offset of_group = nnz * slices / bands_ / (groups_of_warp * kWarpsAtOnce);
    shortest_long_ = within(of_group / kPartOfAGroup, shortest_long_, kLongestOfGroup);
  }
  if (nnz >= kEntriesOfSmall || work >= kLittleWork) return;
  part_entries_ = !is_narrow && work <= kWorkOfShortParts ? kWarpPart : kBlockPart;
  // If there are too few entries for the warps that run at once, more rows get a warp or a block,
  // down to rows for strips and to one step a group.
  if (is_narrow) shortest_long_ = kLongOfFewRow;
  strip_entries_ =
      std::min(strip_entries_, entries_of_small_strips(sizes, wide_slices, groups_of_warp));
  // A step of a strip takes the time of eight entries, however few it has. If every row can have a
  // group of lanes, with groups to spare, that is faster (docs/lab/2026-11-26-spmm-last-lost.md).
  if (bands_ == 1 && sizes.rows * wide_slices <= kWarpsAtOnce * groups_of_warp * 3 / 4) {
    longest_in_strips_ = 0;
  }
  shortest_of_block_ = within(work / kBlocksAtOnce, kShortestOfBlock, kBlockRow);
  shortest_long_ = within(work / kWarpsAtOnce, kShortRow + 1, shortest_long_);
}

void RowTaskMaker::choose_ranges(const SpmmSizes& sizes) {
  const bool is_large = sizes.nnz_of_whole() >= kFewestForRanges;
  rows_per_block_ = is_large ? kRowsPerBlock : kFewRowsPerBlock;
  blocks_ = (Offset{rows_} + rows_per_block_ - 1) / rows_per_block_;
  // Else a single range: all rows, or the largest multiple of a block that fits an Index.
  range_rows_ = static_cast<Index>(std::min(std::max<Offset>(blocks_, 1) * rows_per_block_,
                                            Offset{kMaxIndex} / rows_per_block_ * rows_per_block_));
  if (has_panels() && has_large_operands(sizes, Offset{rows_} * rows_each_, value_bytes_)) {
    range_rows_ = kRangePanels;
  } else if (has_panels() ? is_large : has_ranges(sizes, value_bytes_)) {
    range_rows_ = kRangeRows;
  }
  ranges_ = std::max<Offset>((Offset{rows_} + range_rows_ - 1) / range_rows_, 1);
}

RowTaskMaker::Bounds RowTaskMaker::bound(const SpmmSizes& sizes) {
  // A cut row has length > 5/4 part and ceil(length / part) <= 8/5 length / part parts, and one
  // group slot for every 32 parts begun.
  const Offset band_rows = Offset{rows_} * bands_;
  max_cut_rows_ = std::min(band_rows, sizes.nnz / (longest_whole(part_entries_) + 1));
  const Offset max_row_parts = sizes.nnz / part_entries_ + max_cut_rows_;
  max_parts_ = whole_warps(sizes.nnz / part_entries_);
  max_slots_ = max_row_parts + max_row_parts / kPartsPerGroup + max_cut_rows_;
  // Every row has a task, and every band a gap after each of its bins. With several bands most rows
  // are in strips, which have at least so many entries, except the last of a bin.
  Offset max_tasks = band_rows;
  if (bands_ > 1) {
    const Index least = strip_entries_ < kStripEntries ? kShortRow / 2 + 1 : kShortRow + 1;
    max_tasks = std::min(max_tasks, sizes.nnz / least + rows_ / rows_per_strip(0, strip_entries_) +
                                        bands_ * ranges_ * (kShortRow + 1));
  }
  const Offset max_gaps = bands_ * (kTasksPerWarp - 1) * ranges_ * kBins;
  Bounds most;
  most.tasks = max_parts_ + max_tasks + max_gaps;
  // Bands after the first leave out rows without entries.
  most.ordered_rows = std::min(band_rows, rows_ + sizes.nnz);
  most.copied_entries = has_panels() ? 0 : std::min(sizes.nnz, band_rows * kShortRow);
  return most;
}

void RowTaskMaker::reserve(const Bounds& most, Offset slices) {
  const Offset keys = ranges_ * kBins;
  WorkspaceLayout layout;
  totals_at_ = layout.reserve<Totals>(bands_);
  progress_at_ = layout.reserve<Progress>(1);
  counts_at_ = layout.reserve<Index>(2 * keys);  // and `taken`
  long_starts_at_ = layout.reserve<Index>(kLongBins * blocks_);
  max_counters_ = (max_slots_ + max_cut_rows_) * slices;
  counters_at_ = layout.reserve<Index>(max_counters_);
  starts_at_ = layout.reserve<BinStart>(keys);
  tasks_at_ = layout.reserve<RowTask>(most.tasks);
  order_at_ = layout.reserve<Index>(most.ordered_rows);
  cols_at_ = layout.reserve<Index>(most.copied_entries);
  values_at_ = layout.reserve_bytes(static_cast<std::uint64_t>(most.copied_entries * value_bytes_));
  slots_at_ = layout.reserve<Index>(max_slots_);
  cut_rows_at_ = layout.reserve<CutRow>(max_cut_rows_);
  bytes_ = layout.bytes();
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
                           const Offset* lengths, const Index* band_ends) {
  if (rows_ == 0) return;
  auto* bytes = static_cast<std::byte*>(workspace);
  if (!has_panels()) CHECK_CUDA(cudaMemsetAsync(bytes, 0, cleared_bytes(), stream));
  const RowTasks out = lay_out(workspace);
  Shape shape{};
  shape.offsets = a.row_offsets;
  shape.base = a.base;
  shape.kind = {lengths, rows_each_};
  shape.longest_in_strips = longest_in_strips_;
  shape.strip_entries = strip_entries_;
  shape.shortest_long = has_panels() ? std::numeric_limits<Offset>::max() : shortest_long_;
  shape.shortest_of_block =
      has_panels() ? std::numeric_limits<Offset>::max() : Offset{shortest_of_block_};
  shape.rows = rows_;
  shape.rows_per_block = rows_per_block_;
  shape.part_entries = part_entries_;
  shape.range_rows = range_rows_;
  shape.first_row_task = has_panels() ? max_parts_ : 0;
  auto* counts = reinterpret_cast<Index*>(bytes + counts_at_);
  const Offset keys = ranges_ * kBins;
  const BinArrays bins{counts,
                       counts + keys,
                       reinterpret_cast<BinStart*>(bytes + starts_at_),
                       static_cast<int>(keys),
                       reinterpret_cast<Index*>(bytes + long_starts_at_),
                       static_cast<int>(blocks_)};
  auto* progress = reinterpret_cast<Progress*>(bytes + progress_at_);
  auto* totals = reinterpret_cast<Totals*>(bytes + totals_at_);
  if (host_totals_ == nullptr && bands_ == 1) host_totals_ = PageLockedCells::take_if_it_pays();
  for (Index band = 0; band < bands_; ++band) {
    const bool is_first = band == 0;
    if (!is_first) {
      const std::uint64_t from = progress_at_ + offsetof(Progress, blocks_counted);
      CHECK_CUDA(cudaMemsetAsync(bytes + from, 0, long_starts_at_ - from, stream));
    }
    shape.from = is_first ? nullptr : band_ends + Offset{band - 1} * rows_;
    shape.to = band + 1 == bands_ ? nullptr : band_ends + Offset{band} * rows_;
    count_and_scan(shape, bins, out, is_first ? max_counters_ : 0, progress,
                   is_first ? nullptr : totals + band - 1, totals + band,
                   static_cast<Totals*>(host_totals_), stream);
    place(a, value_bytes_, shape, bins, out, progress, stream);
  }
}

RowTasks RowTaskMaker::finish(void* workspace, cudaStream_t stream) {
  RowTasks result = lay_out(workspace);
  if (rows_ == 0) return result;
  Totals totals{};
  if (host_totals_ != nullptr) {
    CHECK_CUDA(cudaStreamSynchronize(stream));
    totals = *static_cast<const Totals*>(host_totals_);
    PageLockedCells::give_back(std::exchange(host_totals_, nullptr));
  } else {  // of a saved analysis, or without a page-locked cell
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

std::vector<RowTasks> RowTaskMaker::finish_bands(void* workspace, cudaStream_t stream) {
  std::vector<RowTasks> bands(static_cast<std::size_t>(bands_), lay_out(workspace));
  if (rows_ == 0) return bands;
  std::vector<Totals> totals(bands.size());
  CHECK_CUDA(cudaMemcpyAsync(totals.data(), static_cast<std::byte*>(workspace) + totals_at_,
                             totals.size() * sizeof(Totals), cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  Offset first_task = 0, counters = 0;
  for (const Totals& total : totals) counters += static_cast<Offset>(total.counters);
  for (std::size_t band = 0; band < bands.size(); ++band) {
    const auto of_blocks = static_cast<Offset>(totals[band].block_tasks),
               of_long = static_cast<Offset>(totals[band].long_tasks);
    bands[band].first_task = first_task;
    bands[band].block_task_count = of_blocks;
    bands[band].warp_task_count = of_long - of_blocks;
    bands[band].task_count = static_cast<Offset>(totals[band].tasks) - of_long;
    bands[band].counter_count = counters;
    first_task = totals[band].tasks_end;
  }
  return bands;
}

}  // namespace csrkit::gpu

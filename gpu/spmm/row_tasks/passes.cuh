// What the passes over the rows share: how rows are classed by length, and the passes themselves.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu::row_tasks {

/// Rows of a block in every pass. In small matrices each thread has one row: there, one load waits
/// for the other.
inline constexpr int kRowsPerBlock = 1024, kFewRowsPerBlock = 256;

// Bins: one per length up to 64, one per two lengths up to 128, one per four above: the rows of a
// warp take as long as the longest of them. Rows are handed out longest bin first. Rows for a block
// and rows for a warp have bins of their own, which no range divides and which come before all
// others. The parts of a cut row lie side by side.
inline constexpr int kBins = 145;
inline constexpr int kBlockBin = kBins, kWarpBin = kBins + 1;
inline constexpr int kAllBins = kBins + 2;
inline constexpr int kLongBins = kAllBins - kBins;

// A group of lanes has about this many entries of short rows to multiply: enough that the three
// dependent loads at its start (task, entries, rows of B) are a small part of its time. Where all
// groups run at once, nobody takes the next strip, and one step takes less time than three.
inline constexpr Index kStripEntries = 24, kOneStepEntries = kShortRow, kStripEmptyRows = 32;

/// Rows of `length` in a strip of about `entries`; a multiple of what one step of eight holds.
__host__ __device__ constexpr Index rows_per_strip(Index length, Index entries) {
  if (length == 0) return entries < kStripEntries ? kShortRow : kStripEmptyRows;
  const Index per_step = kShortRow / length;
  return (entries / length + per_step - 1) / per_step * per_step;
}

__host__ __device__ constexpr Offset whole_warps(Offset tasks) {
  return (tasks + kTasksPerWarp - 1) / kTasksPerWarp * kTasksPerWarp;
}

/// A row up to a quarter above a part's length stays whole: cutting it would cost more.
__host__ __device__ constexpr Index longest_whole(Index part_entries) {
  return part_entries + part_entries / 4;
}

__host__ __device__ constexpr int bin_of(Index length) {
  if (length <= 64) return length;
  if (length <= 128) return 64 + (length - 64 + 1) / 2;
  return 96 + (length - 128 + 3) / 4;
}

__host__ __device__ constexpr int key_in_range(int bin) { return kBins - 1 - bin; }

/// What the first pass over a band finds out and `finish` reads.
struct Totals {
  unsigned long long parts;  // of cut panels, without their last ones
  unsigned long long counters;
  unsigned long long block_tasks;
  unsigned long long long_tasks;  // block tasks + warp tasks
  unsigned long long tasks;       // long tasks + all others
  // Where the next band begins.
  Offset tasks_end, ordered_rows_end, copied_entries_end;
};

/// How far the passes are.
struct Progress {
  unsigned long long parts;
  unsigned long long slots;
  unsigned long long cut_rows;
  unsigned long long counters;
  unsigned blocks_counted;  // of this band; last, as the next one begins by clearing it
};

__host__ __device__ constexpr Offset parts_of(Offset length, Index part_entries) {
  if (length <= longest_whole(part_entries)) return 1;
  return (length + part_entries - 1) / part_entries;
}

__host__ __device__ constexpr Index groups_of(Index parts) {
  return (parts + kPartsPerGroup - 1) / kPartsPerGroup;
}

struct Shape {
  DeviceOffsets offsets;
  Offset base;
  TaskRows kind;
  Index longest_in_strips;
  Index strip_entries;
  Offset shortest_long;      // for a warp
  Offset shortest_of_block;  // for a block
  Index rows;
  Index rows_per_block;
  Index part_entries;
  Index range_rows;
  Offset first_row_task;  // parts of panels lie before it
  // Of every row, where its entries in this band begin and end, from the row's first entry on; null
  // where that is the row's begin or end.
  const Index* from;
  const Index* to;

  __host__ __device__ bool has_panels() const { return kind.lengths != nullptr; }
  __device__ Offset begin_of(Offset row) const {
    if (has_panels()) return panel_begin(offsets[row * kind.rows_each] - base, row);
    return offsets[row] - base + (from == nullptr ? 0 : from[row]);
  }
  __device__ Offset length_of(Offset row) const {
    if (has_panels()) return kind.lengths[row];
    const Offset end = to == nullptr ? offsets[row + 1] - offsets[row] : Offset{to[row]};
    return end - (from == nullptr ? 0 : from[row]);
  }
  /// Rows without entries in the first band are tasks: somebody must write them.
  __device__ bool is_task(Offset length) const { return length > 0 || from == nullptr; }
};

/// What lies before the first row of a bin.
struct BinStart {
  Offset tasks;
  Offset ordered_rows;
  Offset copied_entries;
  __device__ BinStart operator+(const BinStart& other) const {
    return {tasks + other.tasks, ordered_rows + other.ordered_rows,
            copied_entries + other.copied_entries};
  }
};

/// Of one row: its bin in its range of rows, kBlockBin or kWarpBin.
__device__ inline int bin_key_of(const Shape& shape, Offset length) {
  if (length >= shape.shortest_of_block) return kBlockBin;
  if (length >= shape.shortest_long) return kWarpBin;
  const Offset whole = min(length, Offset{longest_whole(shape.part_entries)});
  return key_in_range(bin_of(static_cast<Index>(whole)));
}

/// How many tasks a row adds to its bin: its parts, or itself.
__device__ inline Index tasks_of(const Shape& shape, int bin_key, Offset length) {
  if (bin_key < kBins) return 1;
  return static_cast<Index>(parts_of(length, shape.part_entries));
}

/// Of every (range of rows, bin), and of every block of rows.
struct BinArrays {
  Index* counts;
  Index* taken;  // rows of the bin that have their place
  BinStart* starts;
  int keys;            // ranges of rows times bins
  Index* long_starts;  // where the long tasks of a block of rows begin
  int blocks;
};

/// Counts and starts, behind what the band before has, if there is one; where the long tasks of
/// every block of rows begin; and totals, here and on the host, if `host_totals` is not null. Also
/// arrival counters of 0, `counters` of them from out.counters on, and the empty tasks before the
/// first part of a panel.
void count_and_scan(const Shape& shape, const BinArrays& bins, const RowTasks& out, Offset counters,
                    Progress* progress, const Totals* before, Totals* totals, Totals* host_totals,
                    cudaStream_t stream);

/// Tasks, copies of short rows, slots and counters of cut rows. `bins` as count_and_scan left them.
void place(const DeviceCsrView<void>& a, int value_bytes, const Shape& shape, const BinArrays& bins,
           const RowTasks& out, Progress* progress, cudaStream_t stream);

}  // namespace csrkit::gpu::row_tasks

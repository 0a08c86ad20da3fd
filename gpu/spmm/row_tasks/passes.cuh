// What the passes over the rows share: the classes of rows by length, and the passes' interfaces.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu::row_tasks {

/// Rows of a block in every pass. In small matrices each thread has one row, because the time is
/// that of dependent loads.
inline constexpr int kRowsPerBlock = 1024, kFewRowsPerBlock = 256;

// Bins: one per length up to 64, one per two lengths up to 128, one per four above: the rows of a
// warp take as long as the longest of them. Rows are handed out longest bin first. Rows for a block
// and rows for a warp have bins of their own, which no range divides and which come before all
// others. The parts of a cut row are consecutive.
inline constexpr int kBins = 145;
inline constexpr int kBlockBin = kBins, kWarpBin = kBins + 1;
inline constexpr int kAllBins = kBins + 2;
inline constexpr int kLongBins = kAllBins - kBins;

// A group of lanes has about this many entries of short rows to multiply: enough that the three
// dependent loads at its start (task, entries, rows of B) are a small part of its time. If all
// groups run at once, strips of one step are faster than of three.
inline constexpr Index kStripEntries = 24, kOneStepEntries = kShortRow, kStripEmptyRows = 32;

/// The number of rows of `length` in a strip of about `entries` entries; a multiple of the rows of
/// one step of eight entries.
__host__ __device__ constexpr Index rows_per_strip(Index length, Index entries) {
  if (length == 0) return entries < kStripEntries ? kShortRow : kStripEmptyRows;
  const Index per_step = kShortRow / length;
  return (entries / length + per_step - 1) / per_step * per_step;
}

__host__ __device__ constexpr Offset whole_warps(Offset tasks) {
  return (tasks + kTasksPerWarp - 1) / kTasksPerWarp * kTasksPerWarp;
}

/// A row up to a quarter longer than a part stays whole: cutting it would cost more.
__host__ __device__ constexpr Index longest_whole(Index part_entries) {
  return part_entries + part_entries / 4;
}

__host__ __device__ constexpr int bin_of(Index length) {
  if (length <= 64) return length;
  if (length <= 128) return 64 + (length - 64 + 1) / 2;
  return 96 + (length - 128 + 3) / 4;
}

__host__ __device__ constexpr int key_in_range(int bin) { return kBins - 1 - bin; }

/// Totals of the first pass over a band, for finish.
struct Totals {
  unsigned long long parts;  // of cut panels, without each panel's last part
  unsigned long long counters;
  unsigned long long block_tasks;
  unsigned long long long_tasks;  // block tasks + warp tasks
  unsigned long long tasks;       // long tasks + all others
  // Positions where the next band begins.
  Offset tasks_end, ordered_rows_end, copied_entries_end;
};

/// The progress of the passes.
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
  Offset first_row_task;  // parts of panels come before it
  // For every row, where its entries of this band begin and end, relative to the row's first entry.
  // Null: the row's begin, or end.
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
  /// Rows without entries are tasks in the first band: C's rows must be written.
  __device__ bool is_task(Offset length) const { return length > 0 || from == nullptr; }
};

/// Positions of the first row of a bin.
struct BinStart {
  Offset tasks;
  Offset ordered_rows;
  Offset copied_entries;
  __device__ BinStart operator+(const BinStart& other) const {
    return {tasks + other.tasks, ordered_rows + other.ordered_rows,
            copied_entries + other.copied_entries};
  }
};

/// A row's bin: one of its range of rows, kBlockBin or kWarpBin.
__device__ inline int bin_key_of(const Shape& shape, Offset length) {
  if (length >= shape.shortest_of_block) return kBlockBin;
  if (length >= shape.shortest_long) return kWarpBin;
  const Offset whole = min(length, Offset{longest_whole(shape.part_entries)});
  return key_in_range(bin_of(static_cast<Index>(whole)));
}

/// The tasks that a row adds to its bin: its parts, or one.
__device__ inline Index tasks_of(const Shape& shape, int bin_key, Offset length) {
  if (bin_key < kBins) return 1;
  return static_cast<Index>(parts_of(length, shape.part_entries));
}

/// Counts for every (range of rows, bin), and for every block of rows.
struct BinArrays {
  Index* counts;
  Index* taken;  // rows of the bin that are placed
  BinStart* starts;
  int keys;            // ranges of rows times bins
  Index* long_starts;  // where the long tasks of a block of rows begin
  int blocks;
};

/// Queues the first pass: counts, starts (after those of the band before), the starts of the long
/// tasks of every block of rows, and totals, also on the host if `host_totals` is not null. Clears
/// `counters` arrival counters from out.counters on, and writes the empty tasks before the first
/// part of a panel.
void count_and_scan(const Shape& shape, const BinArrays& bins, const RowTasks& out, Offset counters,
                    Progress* progress, const Totals* before, Totals* totals, Totals* host_totals,
                    cudaStream_t stream);

/// Queues the last pass: tasks, copies of short rows, slots and counters of cut rows. `bins` are
/// those of count_and_scan.
void place(const DeviceCsrView<void>& a, int value_bytes, const Shape& shape, const BinArrays& bins,
           const RowTasks& out, Progress* progress, cudaStream_t stream);

}  // namespace csrkit::gpu::row_tasks

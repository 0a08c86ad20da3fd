// The result of the analysis of row_bins and row_panels: rows, or panels of rows, sorted into bins
// of similar length; short rows copied together, long ones cut.
#pragma once

#include <cuda_runtime.h>

#include "core/base/types.h"

namespace csrkit::gpu {

/// Rows of up to this many entries are copied; those of one length are contiguous.
inline constexpr Index kShortRow = 8;

/// A row of the analysis: a row of A or, if `lengths` is set, a panel of `rows_each` neighbouring
/// rows. The list of panel p has lengths[p] entries and begins at panel_begin. Panels are not
/// copied; only panels without entries are in strips.
struct TaskRows {
  const Offset* lengths = nullptr;
  Index rows_each = 1;
};

/// Lists of entries begin at multiples of this, in an array with room for all entries of A and this
/// many more per panel: a panel's list is never longer than the rows that it was made of.
inline constexpr Index kPanelAlign = 8;
__host__ __device__ constexpr Offset panel_begin(Offset first_entry, Offset panel) {
  return (first_entry + panel * kPanelAlign) / kPanelAlign * kPanelAlign;
}

/// The groups of a warp get consecutive tasks and walk together. So tasks of another kind, and
/// strips of another length, begin at multiples of this; empty tasks fill the gaps.
inline constexpr Index kTasksPerWarp = 4;

/// A row with at least this many nonzeros gets a whole warp, in the order of the rows: no row waits
/// for a longer neighbour, and rows that follow each other share columns in L1. The threshold is
/// kLongNarrowRow where one group of lanes covers all columns (latency dominates there), and
/// kLongOfFewRow in small matrices, where a row with at least kBlockRow nonzeros gets a block. The
/// fewer entries a matrix has, the lower are both; in products of much work and more columns than
/// eight lanes hold the threshold is higher (maker.cu). Parts of cut rows are treated as whole rows
/// of their length. Panels get one group of lanes each, whatever their length.
inline constexpr Index kLongRow = 96, kLongNarrowRow = 64, kLongOfFewRow = 48, kBlockRow = 192;
/// The shortest row that ever gets a block.
inline constexpr Index kShortestOfBlock = 64;

/// A matrix of fewer entries is small: it has a wave or two of warps, so the latency of rows
/// decides its time, not bandwidth.
inline constexpr Offset kEntriesOfSmall = 700'000;
/// Warps, or blocks of four, that run at once.
inline constexpr Offset kWarpsAtOnce = 4224, kBlocksAtOnce = kWarpsAtOnce / 4;
/// A step of eight entries for each group of eight lanes that runs at once: fewer entries do not
/// fill the device.
inline constexpr Offset kEntriesAtOnce = kWarpsAtOnce * 4 * kShortRow;

/// The work of one group of lanes, of a warp or of a block; one of three, or none if size = 0:
///   a whole row          size = its entries; begin in A; target = its row of C
///   a part of a cut row  size = -entries; begin in A; target = the slot of its partial sum
///   a strip of rows      size = strip_size(length, rows), `length` entries a row; begin in the
///                        copies; target = where its rows begin in row_order
struct alignas(16) RowTask {
  Offset begin;
  Index target;
  Index size;
};
inline constexpr Index kStrip = 1 << 30;
__host__ __device__ constexpr Index strip_size(Index length, Index rows) {
  return kStrip | rows << 4 | length;
}
__host__ __device__ constexpr Index strip_length(Index size) { return size & 15; }
__host__ __device__ constexpr Index strip_rows(Index size) { return (size & ~kStrip) >> 4; }

/// A row that was cut. Its parts' sums are in consecutive slots and are added in that order by the
/// part that arrives last: first the parts of each group of kPartsPerGroup, then the groups.
struct CutRow {
  Index row;
  Index parts;
  Index first_slot;     // the parts' slots, then one slot per group if there is more than one
  Index first_counter;  // one arrival counter per group, then one for the row
};
inline constexpr Index kPartsPerGroup = 32;

/// Device pointers into the workspace, and the counts that a launch needs.
struct RowTasks {
  RowTask* tasks = nullptr;  // of blocks, of warps, then the rest, longest first
  Index* row_order = nullptr;
  Index* short_cols = nullptr;   // the copied entries
  void* short_values = nullptr;  // of A's kind
  Index* cut_of_slot = nullptr;  // the cut row of each part's slot
  CutRow* cut_rows = nullptr;
  Index* counters = nullptr;    // zero before and after every launch, slices * counter_count
  Offset first_task = 0;        // unused places before the first part
  Offset block_task_count = 0;  // the first tasks: a block each
  Offset warp_task_count = 0;   // then tasks for a warp each
  Offset task_count = 0;        // then tasks for a group of lanes each
  Offset counter_count = 0;
};

}  // namespace csrkit::gpu

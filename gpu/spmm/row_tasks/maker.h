// The analysis of row_bins and row_panels: computes the size of a workspace of row tasks, and fills
// it.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu {

/// Plans and runs the analysis. All sizes are upper bounds from rows, nnz and dense_cols alone.
class RowTaskMaker {
 public:
  /// `value_bytes`: of a value of A. `slices`: groups of lanes that share a task in one launch,
  /// each with its own columns. `one_slice_cols`: columns of one such group. `rows_each` > 1: rows
  /// are panels, and sizes.rows counts panels. `bands` > 1: A is cut into so many bands of columns,
  /// each with all rows; the analysis treats them as one matrix, one band below another. bands
  /// times rows must fit an Index.
  RowTaskMaker(const SpmmSizes& sizes, int value_bytes, Offset slices, Index one_slice_cols,
               Index rows_each = 1, Index bands = 1);
  RowTaskMaker() = default;

  std::uint64_t workspace_bytes() const { return bytes_; }
  Offset max_slots() const { return max_slots_; }
  Index part_entries() const { return part_entries_; }
  /// The shortest row that gets a warp.
  Index shortest_of_warp() const { return shortest_long_; }

  /// Bytes at the front of the workspace (totals, progress, counts) that must be 0 before the
  /// passes.
  std::uint64_t cleared_bytes() const { return long_starts_at_; }

  /// Queues the analysis: two passes over the row offsets, the second also over the entries of
  /// short rows. `lengths`: of panels, if there are panels; then the caller has cleared the front.
  /// `band_ends`: for every band except the last, for every row, the number of its entries before
  /// the band's end.
  void analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream,
               const Offset* lengths = nullptr, const Index* band_ends = nullptr);

  /// Waits, and returns the tasks.
  RowTasks finish(void* workspace, cudaStream_t stream);
  /// The same for all bands. Only the first has all rows; others leave out rows without entries.
  std::vector<RowTasks> finish_bands(void* workspace, cudaStream_t stream);

 private:
  /// The most elements of arrays whose sizes nothing but the layout needs.
  struct Bounds {
    Offset tasks, ordered_rows, copied_entries;
  };

  // What the constructor does, in this order: lengths of rows for strips, warps, blocks and parts;
  // ranges of rows; sizes; positions in the workspace.
  void choose_lengths_of_panels(const SpmmSizes& sizes, Index one_slice_cols);
  void choose_lengths_of_rows(const SpmmSizes& sizes, Index one_slice_cols);
  void choose_ranges(const SpmmSizes& sizes);
  Bounds bound(const SpmmSizes& sizes);
  void reserve(const Bounds& most, Offset slices);

  RowTasks lay_out(void* workspace) const;

  bool has_panels() const { return rows_each_ > 1; }

  Index rows_ = 0;
  Index rows_each_ = 1;
  Index bands_ = 1;
  int value_bytes_ = 0;
  Index part_entries_ = 0;
  Index shortest_long_ = 0;
  Index shortest_of_block_ = kMaxIndex;
  Index strip_entries_ = 0;
  Index longest_in_strips_ = 0;  // 0: only rows without entries
  Index rows_per_block_ = 0;
  Index range_rows_ = 0;
  Offset blocks_ = 0, ranges_ = 0;
  Offset max_parts_ = 0, max_slots_ = 0, max_cut_rows_ = 0, max_counters_ = 0;
  std::uint64_t bytes_ = 0;
  // Byte positions in the workspace.
  std::uint64_t totals_at_ = 0, progress_at_ = 0, counts_at_ = 0, long_starts_at_ = 0,
                starts_at_ = 0, counters_at_ = 0, tasks_at_ = 0, order_at_ = 0, cols_at_ = 0,
                values_at_ = 0, slots_at_ = 0, cut_rows_at_ = 0;
  // Between analyse and finish: where the device leaves what finish reads.
  void* host_totals_ = nullptr;
};

}  // namespace csrkit::gpu

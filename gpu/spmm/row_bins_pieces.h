// The analysis behind row_bins: rows sorted into bins of like length, long rows cut into pieces.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// The work of one group of lanes: a whole row, or a piece of a cut row.
struct alignas(16) BinnedPiece {
  Offset begin;  // first entry
  Index row;     // whole: its row of C; part of a cut row: the slot for its partial sum
  Index length;  // entries; -1 - entries for a part of a cut row
};

/// A row that was cut. Its parts' sums lie in consecutive slots and are added in that order, by
/// whichever piece arrives last: first the parts of each group of kPartsPerGroup, then the groups.
struct BinnedCutRow {
  Index row;
  Index parts;
  Index first_slot;     // the parts' slots, then one slot per group if there is more than one
  Index first_counter;  // one arrival counter per group, then one for the row
};
inline constexpr Index kPartsPerGroup = 32;

/// Device pointers into the workspace, and the counts that a launch must know.
struct BinnedPieces {
  BinnedPiece* pieces = nullptr;  // parts of cut rows first, then every row, one piece each
  Index* cut_of_slot = nullptr;   // which cut row a part's slot belongs to
  BinnedCutRow* cut_rows = nullptr;
  Index* counters = nullptr;  // zero before and after every launch, slices * counter_count
  Offset piece_count = 0;
  Offset first_piece = 0;  // unused places before the first part
  Offset counter_count = 0;
  Offset slot_count = 0;
};

/// Plans and runs the analysis. All sizes are bounds from rows and nnz alone.
class PieceBinner {
 public:
  /// `slices`: how many groups of lanes work on the same piece in one launch, each on its columns.
  PieceBinner(const SpmmSizes& sizes, Offset slices);
  PieceBinner() = default;

  std::uint64_t workspace_bytes() const { return bytes_; }
  Offset max_slots() const { return max_slots_; }
  Index piece_entries() const { return piece_entries_; }

  /// Queues the analysis of A's offsets.
  void analyse(const DeviceOffsets& row_offsets, Offset base, void* workspace, cudaStream_t stream);

  /// Waits, and says what came out.
  BinnedPieces finish(void* workspace, cudaStream_t stream) const;

 private:
  BinnedPieces lay_out(void* workspace) const;

  Index rows_ = 0;
  Offset slices_ = 0;
  Index piece_entries_ = 0;
  Index window_rows_ = 0;
  Offset windows_ = 0;
  Offset max_parts_ = 0, max_slots_ = 0, max_cut_rows_ = 0;
  std::uint64_t bytes_ = 0;
  // Byte positions in the workspace.
  std::uint64_t totals_at_ = 0, starts_at_ = 0, pieces_at_ = 0, slots_at_ = 0, cut_rows_at_ = 0,
                counters_at_ = 0;
};

}  // namespace csrkit::gpu

// How nnz_split cuts A: pieces of about equally many nonzeros, each walked by one group of lanes.
#pragma once

#include <cuda_runtime.h>

#include "core/base/types.h"
#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// Boundaries lie at multiples of `piece_entries`; one that falls into a row of at most that length
/// moves down to the row's start. So only longer rows are cut, no piece is empty, and none reaches
/// 2 * piece_entries. A cut row lies in the pieces begin / piece_entries ... (end - 1) /
/// piece_entries.
struct Pieces {
  Offset count = 0;
  Index nonempty_rows = 0;
  Index empty_rows = 0;
  const Offset* starts = nullptr;  // count + 1: first entry of each piece
  /// count: the rank, among the rows that are not empty, of the row of the first entry; ~rank if
  /// the row began before.
  const Index* first_ranks = nullptr;
  const std::uint32_t* row_ends = nullptr;  // one bit per entry: is it the last of its row?
  const Index* rows = nullptr;  // row of each rank, then the empty rows; null: row = rank

#ifdef __CUDACC__
  __device__ bool ends_row(Offset entry) const {
    return (__ldg(row_ends + (entry >> 5)) >> (entry & 31)) & 1u;
  }
#endif
};

struct CutRow {
  Index row;
  Index pieces;  // at least 2
  Offset first_piece;
};

/// Lays out the arrays in a workspace and fills them on the device.
class PieceMaker {
 public:
  PieceMaker() = default;
  PieceMaker(Index rows, Offset nnz, int piece_entries);

  std::uint64_t workspace_bytes() const { return bytes_; }
  Offset max_pieces() const { return max_pieces_; }

  /// Queues the work. `offsets` minus `base` are positions.
  void analyse(const DeviceOffsets& offsets, Offset base, void* workspace,
               cudaStream_t stream) const;

  /// Waits for it and brings the counts.
  struct Result {
    Pieces pieces;
    const CutRow* cut_rows = nullptr;
    Index cut_row_count = 0;
    Index most_pieces = 0;  // of one cut row
  };
  Result finish(void* workspace, cudaStream_t stream) const;

 private:
  Index rows_ = 0;
  Offset nnz_ = 0;
  int piece_entries_ = 0;
  Offset max_pieces_ = 0;
  std::uint64_t scratch_bytes_ = 0;
  std::uint64_t counters_at_ = 0, starts_at_ = 0, ranks_at_ = 0, ends_at_ = 0, rows_at_ = 0,
                cut_rows_at_ = 0, scratch_at_ = 0, bytes_ = 0;
};

}  // namespace csrkit::gpu

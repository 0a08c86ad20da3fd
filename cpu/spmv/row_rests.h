// What runs leave of the rows of a batch, cut into the pieces that csr_lanes puts side by side.
#pragma once

#include <vector>

#include "core/base/types.h"

namespace csrkit::cpu::spmv {

/// Entries of a piece, but of a long row, which has at most so many pieces: others would leave
/// lanes empty for too many steps.
inline constexpr Offset kPieceEntries = 64;
inline constexpr Offset kMostPiecesOfRow = 32;

/// The entries of a batch that are in no run, by rows.
struct RowRests {
  std::vector<Offset> entries;          // where they are in A
  std::vector<Offset> begins, lengths;  // of each row, in `entries`

  /// Those of a row ascend.
  void push_back(Index row, Offset entry) {
    const auto l = static_cast<std::size_t>(row);
    entries[static_cast<std::size_t>(begins[l] + lengths[l]++)] = entry;
  }
};

struct RowPiece {
  Index row;             // counted from the batch's first
  Offset begin, length;  // in RowRests::entries
};

/// The pieces of the rests from long to short, those of a length in their order.
std::vector<RowPiece> sorted_pieces(const RowRests& rests);

}  // namespace csrkit::cpu::spmv

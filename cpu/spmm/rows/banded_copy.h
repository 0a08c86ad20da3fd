// A copy of A in which the entries of neighbouring rows lie band after band of columns: a thread
// that goes through it reads the same few rows of B again and again before it comes to the next
// ones.
#pragma once

#include <vector>

#include "core/base/buffer.h"
#include "core/matrix/csr_matrix.h"
#include "cpu/common/row_cuts.h"

namespace csrkit::cpu {

/// Where nnz_balanced sums a row in two chains, its pieces begin at multiples of that, and the last
/// band has what is left over: so chains are the same with any number of bands.
inline constexpr Offset kPieceStep = 2;

/// Rows [first, last) of A. Piece after piece in the order of the bands, and in every band of the
/// rows: its entries from `first_entry` on, and how many they are.
struct BandedRows {
  Index first, last;
  Index bands;
  Offset first_entry;
  const Index* lengths;  // bands x rows
};

class BandedCopy {
 public:
  BandedCopy() = default;
  /// `blocks` are tasks of rows, in their order; others are left out. 1 < bands <= columns.
  BandedCopy(const CsrMatrix& a, const std::vector<Task>& blocks, Index bands, int threads);

  /// An upper bound of the bytes of a copy, before it is made.
  static std::uint64_t most_bytes(const CsrMatrix& a, Index bands);
  std::uint64_t size_bytes() const;

  /// New values of the same entries.
  void take_values(const CsrMatrix& a);

  /// `block`: a number in the list that the copy was made for.
  BandedRows rows(Offset block) const;
  const Index* col_indices() const { return cols_.data(); }
  const void* values() const { return values_.data(); }

 private:
  struct Block {
    Index first = 0, last = 0;
    Offset first_entry = 0, first_length = 0;
  };

  /// Calls f(place in the copy, entry of A, how many) for the pieces of one block.
  template <class F>
  void for_pieces(const Block& block, const Offset* row_offsets, F&& f) const;
  template <class F>
  void for_blocks(F&& f) const;

  Index bands_ = 0;
  int threads_ = 1;
  std::vector<Block> blocks_;
  Buffer<Index> cols_;
  ValueArray values_;
  Buffer<Index> lengths_;
};

}  // namespace csrkit::cpu

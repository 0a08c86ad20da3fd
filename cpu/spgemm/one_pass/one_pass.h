// C without counting it first: every row is made once.
//
// A thread makes a piece of rows in memory of its own, so the size is known when it is done. Pieces
// are taken in ascending order, so the place of a piece in C, which is the size of all before it,
// is known soon after, and the piece is copied there from the thread's cache. Rows that take long
// (heavy pieces) would hold up this order: they are counted first, and made in place once that is
// known. The room for C comes from an estimate; if it is too low, C is made in two passes instead.
// The smallest products are shared out beforehand, without a queue. Source: Merrill and Garland,
// Single-pass parallel prefix scan with decoupled look-back (2016), here between threads.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/types.h"
#include "cpu/common/work_shares.h"
#include "cpu/spgemm/analysis/row_pieces.h"

namespace csrkit::cpu {

/// Rows that can be made before they are counted. `thread` is a number of the team that calls.
class OnePassRows {
 public:
  virtual ~OnePassRows() = default;
  virtual const RowPieces& pieces() const = 0;
  /// The products of rows [first, last): at least their entries.
  virtual Offset products(Index first, Index last) const = 0;
  /// Whether the next three functions find all that is worth knowing of rows before they are made.
  virtual bool can_be_made_at_once() const = 0;
  /// Whether look_at_rows must be called for all rows, and then look_again.
  virtual bool begin_at_once() = 0;
  virtual void look_at_rows(Index first, Index last) = 0;
  virtual void look_again(Index first, Index last) = 0;
  /// An upper bound of the entries of rows [first, last) that does not look at their products.
  virtual Offset most_entries(Index first, Index last) const = 0;
  /// row_nnz[i] = entries of row first + i, for rows [first, last).
  virtual void count_rows(int thread, Index first, Index last, Index* row_nnz) = 0;
  /// As count_rows, and the entries of these rows, side by side. Returns how many.
  virtual Offset make_rows(int thread, Index first, Index last, Index* row_nnz, Index* col_indices,
                           void* values) = 0;
};

/// Memory for C, and for the entries of each of its rows.
struct OutputRoom {
  Offset entries = 0;
  Index* col_indices = nullptr;
  void* values = nullptr;
  int value_bytes = 0;
  Index* row_nnz = nullptr;
  Offset* row_offsets = nullptr;  // one more than rows
  bool is_streamed = false;       // C is written past the caches
};

/// Puts the entries of rows [first, last), which wait side by side, at their place, as far as there
/// is room, and sets the rows' offsets from row_nnz. Returns where the rows behind them begin.
Offset put_in_place(const OutputRoom& room, Offset start, Index first, Index last, Offset size,
                    const Index* cols, const std::byte* values);

/// Memory in which pieces wait for their places in C. It may be kept for the next product: giving
/// memory back and taking it again stops all threads of a small product.
struct WaitingRoom {
  struct alignas(64) Entries {
    Buffer<Index> col_indices;
    Buffer<std::byte> values;

    void make_room(Offset entries, int value_bytes);  // what was there may be lost
  };
  std::vector<Entries> of_threads;
  // Of products that are shared out beforehand:
  Entries of_all;
  std::vector<Offset> sizes;  // of pieces
  std::unique_ptr<WorkShares> shares;
};

/// What make_in_one_pass allocates beside C.
std::uint64_t one_pass_bytes(const RowPieces& pieces, int threads, int value_bytes);

/// Makes C, rows in order and without gaps; returns nnz(C), or nothing if there was not enough
/// room. What make_rows throws is thrown here, after all threads have ended.
std::optional<Offset> make_in_one_pass(OnePassRows& rows, int threads, const OutputRoom& room,
                                       WaitingRoom& waiting);

}  // namespace csrkit::cpu

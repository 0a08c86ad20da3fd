// Rows that no part multiplies whole, because one may have more entries than a part's share. Each
// part multiplies the entries in columns that it owns, and needs no rows of B for them. The result,
// one row of C, travels to the part that owns the row, which adds up the sums of all parts.
#pragma once

#include <functional>

#include "core/matrix/row_parts.h"

namespace csrkit {

/// The rows that are split, and where each part's entries of them are.
struct SplitRows {
  std::vector<Index> rows;  // ascending
  Index parts = 0;          // of the finest level
  /// parts + 1 places for each row, counted over all entries: where the entries begin whose columns
  /// a part owns, and the row's end.
  std::vector<Offset> begins;

  bool is_empty() const { return rows.empty(); }
  /// Of a level whose parts are made of equally many of the finest level's.
  Offset begin(std::size_t row, Index part, Index parts_of_level) const {
    const auto stride = static_cast<std::size_t>(parts / parts_of_level);
    return begins[row * (static_cast<std::size_t>(parts) + 1) +
                  static_cast<std::size_t>(part) * stride];
  }
};

/// `rows` ascend, `cols` are the borders of the finest level's columns.
SplitRows find_split_rows(const CsrMatrix& matrix, std::vector<Index> rows,
                          const std::vector<Index>& cols);

/// Fills in the heads' counts about split rows.
void count_pieces(const SplitRows& split, PartLevel* level);

/// Whether any part multiplies entries of another part's rows.
bool has_pieces(const PartLevel& level);

/// Fills in own_pieces, pieces and sums of a part.
void list_pieces(const SplitRows& split, const PartLevel& level, Index part, PartLists* lists);

/// Entries of a part's rows that other parts multiply.
Offset entries_elsewhere(const SplitRows& split, const PartLevel& level, Index part);

/// Consecutive entries in some memory.
struct EntryRun {
  const Index* col_indices = nullptr;
  const void* values = nullptr;
};
using EntrySource = std::function<EntryRun(Offset first, Offset last)>;

/// split_part for a part with pieces. `row_offsets` are those of its rows in the whole matrix. It
/// asks `entries` only for those that the part multiplies. Throws InputError as split_part does.
RankPart gather_part(const Offset* row_offsets, ValueKind kind, const EntrySource& entries,
                     PartLists lists, Index cols, const std::string& where, int threads = 0,
                     PartColumns columns = PartColumns::local);

/// The matrix with these rows empty.
CsrMatrix without_rows(const CsrMatrix& matrix, const std::vector<Index>& rows);

}  // namespace csrkit

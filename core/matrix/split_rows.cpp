#include "core/matrix/split_rows.h"

#include <algorithm>
#include <cstring>

namespace csrkit {

namespace {

/// The part whose rows hold this one.
Index owner_of(const PartLevel& level, Index row) {
  const auto at = std::upper_bound(level.parts.begin(), level.parts.end(), row,
                                   [](Index r, const PartHead& head) { return r < head.row_end; });
  return static_cast<Index>(at - level.parts.begin());
}

/// Entries that are copied to one place after the other.
class EntryCopy {
 public:
  EntryCopy(ValueKind kind, Offset size)
      : cols(size), values(kind, size), width_(static_cast<std::size_t>(size_of(kind))) {}

  void take(const EntrySource& entries, Offset first, Offset last) {
    if (first == last) return;
    const EntryRun run = entries(first, last);
    const auto count = static_cast<std::size_t>(last - first);
    std::memcpy(cols.data() + size_, run.col_indices, count * sizeof(Index));
    if (width_ > 0) {
      std::memcpy(static_cast<char*>(values.data()) + static_cast<std::size_t>(size_) * width_,
                  run.values, count * width_);
    }
    size_ += last - first;
  }

  Buffer<Index> cols;
  ValueArray values;

 private:
  std::size_t width_;
  Offset size_ = 0;
};

/// Borrows the matrix.
EntrySource entries_of(const CsrMatrix& matrix) {
  return [&matrix](Offset first, Offset) {
    const auto width = static_cast<Offset>(size_of(matrix.value_kind()));
    return EntryRun{
        matrix.col_indices() + first,
        width == 0 ? nullptr : static_cast<const char*>(matrix.values()) + first * width};
  };
}

/// The part's own rows, the split ones with own columns only.
RankPart own_rows(const Offset* row_offsets, ValueKind kind, const EntrySource& entries,
                  PartLists lists, Index cols, const std::string& where, int threads,
                  PartColumns columns) {
  const PartHead head = lists.head;
  const Index rows = head.rows();
  if (lists.own_pieces.empty()) {
    const EntryRun run = entries(row_offsets[0], row_offsets[rows]);
    return split_part({row_offsets, run.col_indices, kind, run.values}, std::move(lists), cols,
                      where, threads, columns);
  }
  Buffer<Offset> offsets(Offset{rows} + 1);
  offsets[0] = 0;
  auto piece = lists.own_pieces.begin();
  for (Index row = 0; row < rows; ++row) {
    Offset length = row_offsets[row + 1] - row_offsets[row];
    if (piece != lists.own_pieces.end() && piece->row == head.row_begin + row) {
      if (piece->first < row_offsets[row] || piece->entries > row_offsets[row + 1] - piece->first) {
        throw InputError(where + ": row " + std::to_string(piece->row) +
                         ": expected its piece to lie within it; create the file again");
      }
      length = (piece++)->entries;
    }
    offsets[Offset{row} + 1] = offsets[row] + length;
  }
  EntryCopy copy(kind, offsets[rows]);
  Offset next = row_offsets[0];
  for (const RowPiece& own : lists.own_pieces) {
    const Index row = own.row - head.row_begin;
    copy.take(entries, next, row_offsets[row]);
    copy.take(entries, own.first, own.first + own.entries);
    next = row_offsets[row + 1];
  }
  copy.take(entries, next, row_offsets[rows]);
  return split_part({offsets.data(), copy.cols.data(), kind, copy.values.data()}, std::move(lists),
                    cols, where, threads, columns);
}

}  // namespace

SplitRows find_split_rows(const CsrMatrix& matrix, std::vector<Index> rows,
                          const std::vector<Index>& cols) {
  SplitRows split;
  split.rows = std::move(rows);
  split.parts = static_cast<Index>(cols.size()) - 1;
  for (const Index row : split.rows) {
    const Index* const end = matrix.col_indices() + matrix.row_offsets()[row + 1];
    const Index* at = matrix.col_indices() + matrix.row_offsets()[row];
    for (const Index col : cols) {
      at = std::lower_bound(at, end, col);
      split.begins.push_back(at - matrix.col_indices());
    }
  }
  return split;
}

void count_pieces(const SplitRows& split, PartLevel* level) {
  const auto parts = static_cast<Index>(level->parts.size());
  for (std::size_t i = 0; i < split.rows.size(); ++i) {
    const Index owner = owner_of(*level, split.rows[i]);
    for (Index part = 0; part < parts; ++part) {
      const Offset entries = split.begin(i, part + 1, parts) - split.begin(i, part, parts);
      if (entries == 0 || part == owner) continue;
      PartHead& head = level->parts[static_cast<std::size_t>(part)];
      head.piece_entries += entries;
      ++head.sums_sent;
      ++level->parts[static_cast<std::size_t>(owner)].sums_received;
    }
  }
}

bool has_pieces(const PartLevel& level) {
  return std::any_of(level.parts.begin(), level.parts.end(),
                     [](const PartHead& head) { return head.sums_sent > 0; });
}

void list_pieces(const SplitRows& split, const PartLevel& level, Index part, PartLists* lists) {
  const auto parts = static_cast<Index>(level.parts.size());
  for (std::size_t i = 0; i < split.rows.size(); ++i) {
    const Index row = split.rows[i], owner = owner_of(level, row);
    const Offset first = split.begin(i, part, parts);
    const RowPiece piece{row, owner, first, split.begin(i, part + 1, parts) - first};
    if (owner == part) {
      lists->own_pieces.push_back(piece);
    } else if (piece.entries > 0) {
      lists->pieces.push_back(piece);
    }
  }
  for (Index from = 0; from < parts; ++from) {
    for (std::size_t i = 0; i < split.rows.size() && from != part; ++i) {
      const bool has_entries = split.begin(i, from, parts) < split.begin(i, from + 1, parts);
      if (has_entries && owner_of(level, split.rows[i]) == part) {
        lists->sums.push_back({split.rows[i], from});
      }
    }
  }
}

Offset entries_elsewhere(const SplitRows& split, const PartLevel& level, Index part) {
  const auto parts = static_cast<Index>(level.parts.size());
  Offset sum = 0;
  for (std::size_t i = 0; i < split.rows.size(); ++i) {
    if (owner_of(level, split.rows[i]) != part) continue;
    sum += split.begin(i, parts, parts) - split.begin(i, 0, parts);
    sum -= split.begin(i, part + 1, parts) - split.begin(i, part, parts);
  }
  return sum;
}

RankPart gather_part(const Offset* row_offsets, ValueKind kind, const EntrySource& entries,
                     PartLists lists, Index cols, const std::string& where, int threads,
                     PartColumns columns) {
  RankPart part =
      own_rows(row_offsets, kind, entries, std::move(lists), cols, where, threads, columns);
  const PartHead& head = part.lists.head;
  const std::vector<RowPiece>& pieces = part.lists.pieces;
  Buffer<Offset> offsets(static_cast<Offset>(pieces.size()) + 1);
  offsets[0] = 0;
  EntryCopy copy(kind, head.piece_entries);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto at = static_cast<Offset>(i);
    offsets[at + 1] = offsets[at] + pieces[i].entries;
    copy.take(entries, pieces[i].first, pieces[i].first + pieces[i].entries);
    for (Offset entry = offsets[at]; entry < offsets[at + 1]; ++entry) {
      const Index col = copy.cols[entry];
      const bool is_good = col >= head.col_begin && col < head.col_end &&
                           (entry == offsets[at] || col - head.col_begin > copy.cols[entry - 1]);
      if (!is_good) {
        throw InputError(where + ": row " + std::to_string(pieces[i].row) +
                         ": expected a piece with columns that ascend within [" +
                         std::to_string(head.col_begin) + ", " + std::to_string(head.col_end) +
                         "), found " + std::to_string(col) + "; create the file again");
      }
      copy.cols[entry] = col - head.col_begin;
    }
  }
  part.pieces = CsrMatrix(static_cast<Index>(pieces.size()), head.own_cols(), std::move(offsets),
                          std::move(copy.cols), std::move(copy.values));
  return part;
}

CsrMatrix without_rows(const CsrMatrix& matrix, const std::vector<Index>& rows) {
  if (rows.empty()) return matrix;
  Offset left = matrix.nnz();
  for (const Index row : rows) left -= matrix.row_length(row);
  const EntrySource entries = entries_of(matrix);
  Buffer<Offset> offsets(Offset{matrix.rows()} + 1);
  EntryCopy copy(matrix.value_kind(), left);
  Offset next = 0, removed = 0;
  auto at = rows.begin();
  for (Index row = 0; row < matrix.rows(); ++row) {
    offsets[row] = matrix.row_offsets()[row] - removed;
    if (at == rows.end() || *at != row) continue;
    copy.take(entries, next, matrix.row_offsets()[row]);
    next = matrix.row_offsets()[row + 1];
    removed += matrix.row_length(row);
    ++at;
  }
  copy.take(entries, next, matrix.nnz());
  offsets[matrix.rows()] = left;
  return CsrMatrix(matrix.rows(), matrix.cols(), std::move(offsets), std::move(copy.cols),
                   std::move(copy.values));
}

}  // namespace csrkit

// A matrix cut into parts for several ranks: ranges of rows, the columns that each part owns, and
// its halo, the columns of other parts in which it has entries. In a product C = A B the rows of B
// with the numbers of halo columns travel between ranks, so these counts forecast the bytes moved.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// The ranges of one level: part p has the rows [rows[p], rows[p + 1]) and owns the columns
/// [cols[p], cols[p + 1]). Both begin with 0, never decrease, and end with the matrix; in a square
/// matrix they are equal.
struct PartBorders {
  std::vector<Index> rows, cols;
  Index parts() const { return static_cast<Index>(rows.size()) - 1; }
};

/// What a rank knows of its part before it reads any entry.
struct PartHead {
  Index row_begin = 0, row_end = 0;
  Index col_begin = 0, col_end = 0;
  Offset entries = 0;      // of its rows
  Offset own_entries = 0;  // those in columns that it owns
  Index halo_cols = 0;     // columns of other parts that it needs: rows of B that come
  Offset send_cols = 0;    // own columns, once for each part that needs them: rows of B that go
  Index neighbours = 0;    // parts that it receives rows of B from or sends them to
  // Of rows that are split (core/matrix/split_rows.h); their entries in columns of other parts are
  // not among those above.
  Offset piece_entries = 0;  // in its own columns, of other parts' rows
  Index sums_sent = 0;      // rows of C that go: one for each other part's row in which it has some
  Index sums_received = 0;  // rows of C that come

  Index rows() const { return row_end - row_begin; }
  Index own_cols() const { return col_end - col_begin; }
  bool operator==(const PartHead& other) const;
};

/// A partition into parts.size() parts.
struct PartLevel {
  std::vector<PartHead> parts;
};

/// Another part with which a part exchanges rows of B.
struct Neighbour {
  Index part = 0;
  Index halo_cols = 0;  // come from it
  Index send_cols = 0;  // go to it
  bool operator==(const Neighbour& other) const;
};

/// The entries of a split row in a part's own columns, by their place among all entries.
struct RowPiece {
  Index row = 0;
  Index part = 0;  // that owns the row
  Offset first = 0, entries = 0;
};

/// A row of C that comes from another part, which has a piece of this own row.
struct RowSum {
  Index row = 0;
  Index part = 0;
};

/// Everything that a rank needs to exchange rows of B. Columns are those of the whole matrix.
struct PartLists {
  PartHead head;
  std::vector<Neighbour> neighbours;  // ascending by part
  Buffer<Index> halo;                 // head.halo_cols, ascending: so grouped by neighbour
  Buffer<Index> sends;  // head.send_cols, grouped by neighbour, ascending for each of them
  std::vector<RowPiece> own_pieces;  // of its own rows that are split, ascending
  std::vector<RowPiece> pieces;      // of other parts' rows, ascending, so grouped by part
  std::vector<RowSum> sums;          // ascending by part, then by row
};

/// How a rank stores the entries of its rows. local: own columns and halo columns in two matrices,
/// with columns of the part. whole: all in one matrix, with columns of the whole matrix, for ranks
/// that read each other's rows of B in place.
enum class PartColumns : std::uint8_t { local, whole };

/// The entries of one part. `own` and `halo` have the part's rows.
struct RankPart {
  PartLists lists;
  Index first_col = 0;  // col_begin with local columns, 0 with those of the whole matrix
  CsrMatrix own;        // column c stands for first_col + c; with whole columns it has all entries
  CsrMatrix halo;       // column c stands for lists.halo[c]
  CsrMatrix pieces;     // a row for each of lists.pieces; column c stands for col_begin + c
};

/// parts + 1 borders in a list of `count` items whose weights add up to `sums` (count + 1 numbers
/// from 0): border p is the place nearest to p parts' share. Borders for 2 p parts contain those
/// for p. Items without any weight are shared out by their number.
std::vector<Index> balanced_borders(const Offset* sums, Index count, Index parts);

/// For each number of parts: rows balanced by entries; columns are the rows' if the matrix is
/// square, else balanced by how many entries read them. Entries of `split_rows` count where their
/// columns are.
std::vector<PartBorders> plain_blocks(const CsrMatrix& matrix, const std::vector<Index>& parts,
                                      const std::vector<Index>& split_rows = {});

/// The columns of a part's entries that it does not own: bit c of the words.
struct HaloBits {
  const std::uint64_t* words = nullptr;
  /// Calls `use(column)` for every one in [begin, end), ascending.
  template <class Use>
  void for_each(Index begin, Index end, Use&& use) const;
};

/// A level with all that is counted about it.
struct CountedLevel {
  PartLevel level;
  std::vector<std::vector<Neighbour>> neighbours;  // of every part, ascending
};

/// Called when all entries of a part have been seen, with the parts whose columns it needs, their
/// send_cols being 0, and the columns themselves.
using PartVisitor = std::function<void(std::size_t level, Index part,
                                       const std::vector<Neighbour>& received, HaloBits halo)>;

/// Counts all levels in one pass over the entries, with `threads` as in team_size. Takes an eighth
/// of a byte for each column and level, and 12 bytes for each pair of neighbours. `split_rows`
/// ascend; of these rows only the entries in columns of the owning part are counted.
std::vector<CountedLevel> count_parts(const CsrMatrix& matrix,
                                      const std::vector<PartBorders>& levels, int threads = 0,
                                      const ProgressCallback& progress = {},
                                      const PartVisitor& visitor = {},
                                      const std::vector<Index>& split_rows = {});

/// The rows of a part as the whole matrix stores them: head.rows() + 1 offsets, which need not
/// begin with 0; the columns, those of the whole matrix, and the values begin at the first entry.
struct PartRows {
  const Offset* row_offsets = nullptr;
  const Index* col_indices = nullptr;
  ValueKind kind = ValueKind::none;
  const void* values = nullptr;
};

/// Splits the rows into own and halo columns. Throws InputError that begins with `where` if columns
/// do not ascend within [0, cols), if a column is neither owned nor in the halo's list, if a column
/// of that list is in no row, or if counts differ from the head's.
RankPart split_part(const PartRows& rows, PartLists lists, Index cols, const std::string& where,
                    int threads = 0, PartColumns columns = PartColumns::local);

template <class Use>
void HaloBits::for_each(Index begin, Index end, Use&& use) const {
  for (Offset base = Offset{begin} / 64 * 64; base < end; base += 64) {
    std::uint64_t word = words[base / 64];
    if (base < begin) word &= ~std::uint64_t{0} << (begin - base);
    if (end - base < 64) word &= (std::uint64_t{1} << (end - base)) - 1;
    for (; word != 0; word &= word - 1) {
      use(static_cast<Index>(base + __builtin_ctzll(word)));
    }
  }
}

}  // namespace csrkit

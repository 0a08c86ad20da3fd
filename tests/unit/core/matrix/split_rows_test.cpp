#include "core/matrix/split_rows.h"

#include <cstring>
#include <set>

#include "tests/unit/core/part_samples.h"

namespace csrkit {
namespace {

/// Rows that are long, empty, first or last in their parts: every third one.
std::vector<Index> some_rows(const CsrMatrix& matrix) {
  std::vector<Index> rows;
  for (Index row = 0; row < std::min<Index>(matrix.rows(), 300); row += 3) rows.push_back(row);
  return rows;
}

/// Row, column, and the bits of the value, as NaN is not equal to itself.
using Entry = std::tuple<Index, Index, std::uint64_t>;

void add_entries(const CsrMatrix& from, const std::function<Index(Index)>& row_of,
                 const std::function<Index(Index)>& col_of, std::multiset<Entry>* all) {
  const CsrMatrix numbers = convert_values(from, ValueKind::f64);
  for (Index row = 0; row < from.rows(); ++row) {
    for (Offset at = from.row_offsets()[row]; at < from.row_offsets()[row + 1]; ++at) {
      std::uint64_t bits;
      std::memcpy(&bits, static_cast<const double*>(numbers.values()) + at, sizeof bits);
      all->emplace(row_of(row), col_of(from.col_indices()[at]), bits);
    }
  }
}

TEST(SplitRows, EveryEntryIsWithOnePartAndCountedThere) {
  for (const auto& [name, matrix] : part_samples()) {
    for (const Index parts : {1, 3, 12}) {
      if (parts > matrix.rows()) continue;
      SCOPED_TRACE(name + ", " + std::to_string(parts) + " parts");
      const std::vector<Index> split = some_rows(matrix);
      const RankSections ranks =
          RankSections::of(matrix, {random_borders(matrix, parts, 6)}, 2, {}, split);
      std::multiset<Entry> wanted, found;
      add_entries(
          matrix, [](Index row) { return row; }, [](Index col) { return col; }, &wanted);
      std::multiset<std::pair<Index, Index>> sent, awaited;  // part, row
      for (Index p = 0; p < parts; ++p) {
        const RankPart part = part_of_matrix(matrix, ranks.lists(0, p), "test");
        const PartLists& lists = part.lists;
        const auto own_row = [&](Index row) { return lists.head.row_begin + row; };
        const auto own_col = [&](Index col) { return lists.head.col_begin + col; };
        add_entries(part.own, own_row, own_col, &found);
        add_entries(
            part.halo, own_row, [&](Index col) { return lists.halo[col]; }, &found);
        add_entries(
            part.pieces, [&](Index row) { return lists.pieces[std::size_t(row)].row; }, own_col,
            &found);
        EXPECT_EQ(part.pieces.rows(), lists.head.sums_sent);
        EXPECT_EQ(part.pieces.nnz(), lists.head.piece_entries);
        EXPECT_EQ(static_cast<Index>(lists.sums.size()), lists.head.sums_received);
        for (const RowPiece& piece : lists.pieces) {
          EXPECT_GT(piece.entries, 0);
          EXPECT_NE(piece.part, p);
          sent.emplace(p, piece.row);
        }
        for (const RowSum& sum : lists.sums) {
          EXPECT_TRUE(sum.row >= lists.head.row_begin && sum.row < lists.head.row_end);
          awaited.emplace(sum.part, sum.row);
        }
        for (const Index row : split) {  // no rows of B come for a split row
          if (row < lists.head.row_begin || row >= lists.head.row_end) continue;
          EXPECT_EQ(part.halo.row_length(row - lists.head.row_begin), 0);
        }
      }
      EXPECT_TRUE(wanted == found);
      EXPECT_TRUE(sent == awaited);
      if (split.empty() || parts == 1) continue;
      EXPECT_EQ(has_pieces(ranks.levels()[0]), !sent.empty());
    }
  }
}

TEST(SplitRows, AHubIsSharedOutInEqualPieces) {
  const CsrMatrix hub = hub_sample(200);  // row 66 has 200 of 598 entries
  const std::vector<Index> rows = {66};
  const RankSections whole = RankSections::of(hub, plain_blocks(hub, {8}));
  const RankSections split = RankSections::of(hub, plain_blocks(hub, {8}, rows), 0, {}, rows);
  const auto most = [](const RankSections& ranks) {
    Offset entries = 0;
    for (const PartHead& head : ranks.levels()[0].parts) {
      entries = std::max(entries, head.entries + head.piece_entries);
    }
    return entries;
  };
  EXPECT_GE(most(whole), 200);
  EXPECT_LE(most(split), 598 / 8 + 3);
  Offset halo = 0;
  for (const PartHead& head : split.levels()[0].parts) halo += head.halo_cols + head.sums_received;
  EXPECT_EQ(halo, 7 + 7);  // the full column, and a sum from every other part
}

TEST(SplitRows, RowsThatAreEmptied) {
  for (const auto& [name, matrix] : part_samples()) {
    SCOPED_TRACE(name);
    const std::vector<Index> rows = some_rows(matrix);
    const CsrMatrix rest = without_rows(matrix, rows);
    ASSERT_EQ(rest.rows(), matrix.rows());
    std::multiset<Entry> all, wanted, found;
    add_entries(
        matrix, [](Index r) { return r; }, [](Index c) { return c; }, &all);
    for (const Entry& entry : all) {
      if (!std::binary_search(rows.begin(), rows.end(), std::get<0>(entry))) wanted.insert(entry);
    }
    add_entries(
        rest, [](Index r) { return r; }, [](Index c) { return c; }, &found);
    EXPECT_TRUE(wanted == found);
  }
}

TEST(SplitRows, PiecesElsewhereAreRefused) {
  const CsrMatrix hub = hub_sample(40);
  const std::vector<Index> rows = {13};
  const RankSections ranks = RankSections::of(hub, plain_blocks(hub, {4}, rows), 0, {}, rows);
  for (Index part = 0; part < 4; ++part) {
    for (const Offset by : {Offset{-1}, Offset{1}}) {
      PartLists lists = ranks.lists(0, part);
      std::vector<RowPiece>& pieces = lists.pieces.empty() ? lists.own_pieces : lists.pieces;
      ASSERT_EQ(pieces.size(), 1u);
      pieces.front().first += by;
      EXPECT_THROW(part_of_matrix(hub, std::move(lists), "test"), InputError) << part;
    }
  }
}

}  // namespace
}  // namespace csrkit

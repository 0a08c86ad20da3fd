#include "core/matrix/row_parts.h"

#include <map>

#include "tests/unit/core/file/csr_file_samples.h"
#include "tests/unit/core/part_samples.h"

namespace csrkit {
namespace {

/// What the definition says, entry by entry.
CountedLevel counted_slowly(const CsrMatrix& a, const PartBorders& borders) {
  const Index parts = borders.parts();
  const auto owner_of = [&](Index col) {
    Index part = 0;
    while (col >= borders.cols[static_cast<std::size_t>(part) + 1]) ++part;
    return part;
  };
  CountedLevel counted;
  std::vector<std::map<Index, std::set<Index>>> needs(static_cast<std::size_t>(parts));
  std::vector<std::map<Index, Neighbour>> neighbours(needs.size());
  for (Index p = 0; p < parts; ++p) {
    const auto at = static_cast<std::size_t>(p);
    PartHead head;
    head.row_begin = borders.rows[at];
    head.row_end = borders.rows[at + 1];
    head.col_begin = borders.cols[at];
    head.col_end = borders.cols[at + 1];
    for (Index row = head.row_begin; row < head.row_end; ++row) {
      for (Offset e = a.row_offsets()[row]; e < a.row_offsets()[row + 1]; ++e) {
        const Index col = a.col_indices()[e], owner = owner_of(col);
        ++head.entries;
        head.own_entries += owner == p;
        if (owner != p) needs[at][owner].insert(col);
      }
    }
    for (const auto& [owner, cols] : needs[at]) {
      const auto count = static_cast<Index>(cols.size());
      head.halo_cols += count;
      neighbours[at][owner].halo_cols = count;
      neighbours[static_cast<std::size_t>(owner)][p].send_cols = count;
    }
    counted.level.parts.push_back(head);
  }
  for (std::size_t p = 0; p < needs.size(); ++p) {
    counted.neighbours.emplace_back();
    PartHead& head = counted.level.parts[p];
    for (auto& [part, neighbour] : neighbours[p]) {
      neighbour.part = part;
      head.send_cols += neighbour.send_cols;
      ++head.neighbours;
      counted.neighbours[p].push_back(neighbour);
    }
  }
  return counted;
}

void expect_same_counts(const CountedLevel& found, const CountedLevel& wanted) {
  EXPECT_TRUE(found.level.parts == wanted.level.parts);
  EXPECT_TRUE(found.neighbours == wanted.neighbours);
}

TEST(RowParts, CountsAreThoseOfTheDefinition) {
  for (const auto& [name, matrix] : part_samples()) {
    std::vector<PartBorders> levels;
    for (const Index parts : {1, 2, 3, 4, 7, 16, 64}) {
      levels.push_back(plain_blocks(matrix, {parts}).front());
      levels.push_back(random_borders(matrix, parts, 5));
    }
    for (const int threads : {1, 2, 3}) {
      const std::vector<CountedLevel> counted = count_parts(matrix, levels, threads);
      ASSERT_EQ(counted.size(), levels.size());
      for (std::size_t l = 0; l < levels.size(); ++l) {
        SCOPED_TRACE(name + ", " + std::to_string(levels[l].parts()) + " parts, " +
                     std::to_string(threads) + " threads");
        expect_same_counts(counted[l], counted_slowly(matrix, levels[l]));
      }
    }
  }
}

TEST(RowParts, TheVisitorSeesEveryHaloOnceAndInOrder) {
  const CsrMatrix matrix = random_csr(300, 300, 9, ValueKind::none);
  const std::vector<PartBorders> levels{plain_blocks(matrix, {3}).front(),
                                        random_borders(matrix, 8, 1)};
  std::vector<Index> next(levels.size(), 0);
  count_parts(
      matrix, levels, 2, {},
      [&](std::size_t level, Index part, const std::vector<Neighbour>& received, HaloBits bits) {
        EXPECT_EQ(part, next[level]++);
        std::vector<Index> from_bits, from_rows;
        for (const Neighbour& owner : received) {
          const std::size_t before = from_bits.size();
          const auto o = static_cast<std::size_t>(owner.part);
          bits.for_each(levels[level].cols[o], levels[level].cols[o + 1],
                        [&](Index col) { from_bits.push_back(col); });
          EXPECT_EQ(static_cast<Index>(from_bits.size() - before), owner.halo_cols);
        }
        const auto p = static_cast<std::size_t>(part);
        std::set<Index> wanted;
        for (Offset e = matrix.row_offsets()[levels[level].rows[p]];
             e < matrix.row_offsets()[levels[level].rows[p + 1]]; ++e) {
          const Index col = matrix.col_indices()[e];
          if (col < levels[level].cols[p] || col >= levels[level].cols[p + 1]) {
            wanted.insert(col);
          }
        }
        EXPECT_EQ(from_bits, std::vector<Index>(wanted.begin(), wanted.end()));
      });
  EXPECT_EQ(next, (std::vector<Index>{3, 8}));
}

TEST(RowParts, BalancedBordersAreNearestAndNest) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 0);
    std::vector<Offset> sums{0};
    const auto count = static_cast<Index>(1 + random.below(90));
    for (Index i = 0; i < count; ++i) {
      sums.push_back(sums.back() + static_cast<Offset>(random.below(3) == 0 ? 0 : random.below(9)));
    }
    for (const Index parts : {1, 2, 3, 8, 50, 200}) {
      const std::vector<Index> borders = balanced_borders(sums.data(), count, parts);
      ASSERT_EQ(borders.size(), static_cast<std::size_t>(parts) + 1);
      EXPECT_EQ(borders.front(), 0);
      EXPECT_EQ(borders.back(), count);
      EXPECT_TRUE(std::is_sorted(borders.begin(), borders.end()));
      const Offset total = sums.back();
      for (Index p = 1; p < parts && total > 0; ++p) {
        const Offset target = total * p / parts;
        const auto distance = [&](Index at) {
          return std::abs(sums[static_cast<std::size_t>(at)] - target);
        };
        for (Index at = 0; at <= count; ++at) {
          EXPECT_LE(distance(borders[static_cast<std::size_t>(p)]), distance(at));
        }
      }
      const std::vector<Index> finer = balanced_borders(sums.data(), count, 3 * parts);
      for (Index p = 0; p <= parts; ++p) {
        EXPECT_EQ(borders[static_cast<std::size_t>(p)], finer[static_cast<std::size_t>(3 * p)]);
      }
    }
  }
  const std::vector<Offset> nothing(11, 0);
  EXPECT_EQ(balanced_borders(nothing.data(), 10, 4), (std::vector<Index>{0, 2, 5, 7, 10}));
  // Sums near the end of 63 bits do not overflow.
  const std::vector<Offset> huge{0, Offset{1} << 60, Offset{1} << 61, Offset{3} << 60};
  EXPECT_EQ(balanced_borders(huge.data(), 3, 3), (std::vector<Index>{0, 1, 2, 3}));
}

TEST(RowParts, PlainBlocksOfARectangleBalanceTheReadersOfColumns) {
  // Column 0 is read by every row, the others by none.
  std::vector<Offset> offsets;
  for (Offset i = 0; i <= 8; ++i) offsets.push_back(i);
  const CsrMatrix matrix =
      make_csr(8, 5, offsets, std::vector<Index>(8, 0), std::vector<double>(8, 1), ValueKind::f32);
  const PartBorders borders = plain_blocks(matrix, {4}).front();
  EXPECT_EQ(borders.rows, (std::vector<Index>{0, 2, 4, 6, 8}));
  EXPECT_EQ(borders.cols.front(), 0);
  EXPECT_EQ(borders.cols.back(), 5);
  EXPECT_TRUE(std::is_sorted(borders.cols.begin(), borders.cols.end()));
}

TEST(RowParts, BordersOfAnotherMatrixAreRefused) {
  const CsrMatrix matrix = random_csr(9, 9, 3, ValueKind::f32);
  for (const PartBorders& borders :
       {PartBorders{{0, 5}, {0, 9}}, PartBorders{{0, 9}, {0, 10}}, PartBorders{{1, 9}, {0, 9}},
        PartBorders{{0, 5, 3, 9}, {0, 1, 2, 9}}, PartBorders{{0, 3, 9}, {0, 9}},
        PartBorders{{0}, {0}}}) {
    EXPECT_THROW(count_parts(matrix, {borders}), UsageError);
  }
}

/// Own and halo matrix put together again.
void expect_part_of(const CsrMatrix& matrix, const RankPart& part) {
  const PartHead& head = part.lists.head;
  ASSERT_EQ(part.own.rows(), head.rows());
  ASSERT_EQ(part.halo.rows(), head.rows());
  EXPECT_EQ(part.own.cols(), head.own_cols());
  EXPECT_EQ(part.halo.cols(), head.halo_cols);
  EXPECT_EQ(part.own.value_kind(), matrix.value_kind());
  EXPECT_EQ(part.halo.value_kind(), matrix.value_kind());
  validate(part.own, "own");
  validate(part.halo, "halo");
  const CsrMatrix own = convert_values(part.own, ValueKind::f64);
  const CsrMatrix halo = convert_values(part.halo, ValueKind::f64);
  const CsrMatrix whole = convert_values(matrix, ValueKind::f64);
  for (Index row = 0; row < head.rows(); ++row) {
    std::map<Index, double> found, wanted;
    const auto add = [row](const CsrMatrix& from, std::map<Index, double>& to, Index in_row,
                           auto&& global) {
      (void)row;
      const auto view = from.view<double>();
      for (Offset e = view.row_offsets[in_row]; e < view.row_offsets[in_row + 1]; ++e) {
        to[global(view.col_indices[e])] = view.values[e];
      }
    };
    add(own, found, row, [&](Index col) { return col + head.col_begin; });
    add(halo, found, row, [&](Index col) { return part.lists.halo[col]; });
    add(whole, wanted, head.row_begin + row, [](Index col) { return col; });
    ASSERT_EQ(found.size(), wanted.size());
    for (const auto& [col, value] : wanted) {
      ASSERT_EQ(found.count(col), 1u);
      EXPECT_EQ(std::memcmp(&found[col], &value, sizeof value), 0);
    }
  }
}

PartRows rows_of_part(const CsrMatrix& matrix, const PartHead& head) {
  const Offset first = matrix.row_offsets()[head.row_begin];
  PartRows rows;
  rows.row_offsets = matrix.row_offsets() + head.row_begin;
  rows.col_indices = matrix.col_indices() + first;
  rows.kind = matrix.value_kind();
  if (rows.kind != ValueKind::none) {
    rows.values = static_cast<const char*>(matrix.values()) + first * size_of(rows.kind);
  }
  return rows;
}

TEST(RowParts, PartsAreSplitIntoOwnAndHalo) {
  for (const auto& [name, matrix] : part_samples()) {
    for (const Index parts : {1, 2, 5, 16}) {
      if (parts > matrix.rows()) continue;
      SCOPED_TRACE(name + ", " + std::to_string(parts) + " parts");
      const RankSections ranks = RankSections::of(matrix, {random_borders(matrix, parts, 3)});
      for (Index part = 0; part < parts; ++part) {
        for (const int threads : {1, 2}) {
          PartLists lists = ranks.lists(0, part);
          const PartRows rows = rows_of_part(matrix, lists.head);
          expect_part_of(matrix,
                         split_part(rows, std::move(lists), matrix.cols(), "here", threads));
        }
      }
    }
  }
}

/// With columns of the whole matrix its rows are as they stand there.
TEST(RowParts, PartsMayKeepTheirRowsWhole) {
  for (const auto& [name, matrix] : part_samples()) {
    for (const Index parts : {1, 5}) {
      if (parts > matrix.rows()) continue;
      SCOPED_TRACE(name + ", " + std::to_string(parts) + " parts");
      const RankSections ranks = RankSections::of(matrix, {random_borders(matrix, parts, 3)});
      for (Index number = 0; number < parts; ++number) {
        const RankPart part =
            part_of_matrix(matrix, ranks.lists(0, number), "here", 2, PartColumns::whole);
        const Index first = part.lists.head.row_begin;
        const auto size = static_cast<std::size_t>(size_of(matrix.value_kind()));
        EXPECT_EQ(part.first_col, 0);
        EXPECT_EQ(part.halo.nnz(), 0);
        ASSERT_EQ(part.own.rows(), part.lists.head.rows());
        ASSERT_EQ(part.own.cols(), matrix.cols());
        validate(part.own, "whole rows");
        for (Index row = 0; row < part.own.rows(); ++row) {
          const Offset found = part.own.row_offsets()[row];
          const Offset wanted = matrix.row_offsets()[first + row];
          const Index length = part.own.row_length(row);
          ASSERT_EQ(length, matrix.row_length(first + row));
          EXPECT_TRUE(std::equal(part.own.col_indices() + found,
                                 part.own.col_indices() + found + length,
                                 matrix.col_indices() + wanted));
          if (size == 0 || length == 0) continue;
          EXPECT_EQ(std::memcmp(static_cast<const char*>(part.own.values()) +
                                    static_cast<std::size_t>(found) * size,
                                static_cast<const char*>(matrix.values()) +
                                    static_cast<std::size_t>(wanted) * size,
                                static_cast<std::size_t>(length) * size),
                    0);
        }
      }
    }
  }
}

TEST(RowParts, ListsThatAreNotTheRowsAreRefused) {
  const CsrMatrix matrix = random_csr(40, 40, 6, ValueKind::f32);
  const RankSections ranks = RankSections::of(matrix, plain_blocks(matrix, {4}));
  /// The same with columns of either kind.
  const auto refusal = [&](auto&& change) -> std::string {
    std::set<std::string> messages;
    for (const PartColumns columns : {PartColumns::local, PartColumns::whole}) {
      PartLists lists = ranks.lists(0, 1);
      const PartRows rows = rows_of_part(matrix, lists.head);
      change(lists);
      try {
        split_part(rows, std::move(lists), matrix.cols(), "here", 1, columns);
        messages.insert("not refused");
      } catch (const InputError& error) {
        messages.insert(error.what());
      }
    }
    EXPECT_EQ(messages.size(), 1u);
    return *messages.begin();
  };
  const auto absent = [&](const PartLists& lists) {  // a column of others without an entry
    const std::set<Index> halo(lists.halo.begin(), lists.halo.end());
    for (Index col = 0;; ++col) {
      if ((col < lists.head.col_begin || col >= lists.head.col_end) && halo.count(col) == 0) {
        return col;
      }
    }
  };
  const auto says = [](const std::string& message, const char* text) {
    EXPECT_EQ(message.find("here: "), 0u) << message;
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  says(refusal([](PartLists& lists) { ++lists.head.own_entries; }), "of them in own columns");
  says(refusal([](PartLists& lists) { ++lists.head.entries; }), "of them in own columns");
  says(refusal([&](PartLists& lists) { lists.halo[0] = absent(lists); }),
       "expected the columns of the halo's list, found ");
  says(refusal([&](PartLists& lists) {
         Buffer<Index> longer(lists.halo.size() + 1);
         std::copy(lists.halo.begin(), lists.halo.end(), longer.begin());
         longer[lists.halo.size()] = absent(lists);
         std::sort(longer.begin(), longer.end());
         lists.halo = std::move(longer);
         ++lists.head.halo_cols;
       }),
       "found none in column ");
  // Columns out of range or order are found in the rows themselves.
  Buffer<Index> cols(2);
  Buffer<Offset> offsets(2);
  offsets[0] = 0;
  offsets[1] = 2;
  for (const auto& [first, second] : {std::pair{0, 9}, {-1, 0}, {1, 1}, {2, 0}}) {
    cols[0] = first;
    cols[1] = second;
    PartLists lists;
    lists.head.row_end = 1;
    lists.head.col_end = 9;
    lists.head.entries = lists.head.own_entries = 2;
    try {
      split_part({offsets.data(), cols.data(), ValueKind::none, nullptr}, std::move(lists), 9,
                 "here");
      FAIL() << first << " " << second;
    } catch (const InputError& error) {
      says(error.what(), "row 0: expected columns that ascend within [0, 9), found ");
    }
  }
}

}  // namespace
}  // namespace csrkit

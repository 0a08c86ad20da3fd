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

}  // namespace
}  // namespace csrkit

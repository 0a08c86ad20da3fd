#include "preprocess/reorder/parts/stream_parts.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

using namespace test;

StreamOptions in_parts(Index parts, int passes = 10) {
  StreamOptions options;
  options.parts = parts;
  options.passes = passes;
  return options;
}

/// Communities of 250 rows, shuffled, that hold four fifths of the 16 entries of each row.
CsrMatrix planted(Index rows) {
  std::vector<Index> label(static_cast<std::size_t>(rows));
  for (Index row = 0; row < rows; ++row) label[static_cast<std::size_t>(row)] = row;
  RandomStream random(7, 0);
  for (std::size_t i = label.size() - 1; i > 0; --i)
    std::swap(label[i], label[random.below(i + 1)]);
  Entries entries;
  for (Index row = 0; row < rows; ++row) {
    for (int k = 0; k < 16; ++k) {
      const bool is_inside = random.below(5) > 0;
      const std::uint64_t first = is_inside ? static_cast<std::uint64_t>(row / 250 * 250) : 0;
      const std::uint64_t many = is_inside ? 250 : static_cast<std::uint64_t>(rows);
      entries.emplace_back(label[static_cast<std::size_t>(row)], label[first + random.below(many)]);
    }
  }
  return pattern_of(rows, rows, std::move(entries));
}

/// What the part with most has by the mean.
struct Imbalance {
  double entries, rows;  // a row without entries counts as one
};
Imbalance imbalance(const CsrMatrix& matrix, const Partition& partition) {
  const auto parts = static_cast<std::size_t>(partition.parts);
  std::vector<Offset> entries(parts, 0), rows(parts, 0);
  for (Index row = 0; row < matrix.rows(); ++row) {
    const auto part = static_cast<std::size_t>((*partition.part_of_row)[row]);
    entries[part] += std::max<Offset>(matrix.row_length(row), 1);
    ++rows[part];
  }
  const auto by_mean = [](const std::vector<Offset>& sums) {
    return static_cast<double>(*std::max_element(sums.begin(), sums.end())) *
           static_cast<double>(sums.size()) /
           static_cast<double>(std::accumulate(sums.begin(), sums.end(), Offset{0}));
  };
  return {by_mean(entries), by_mean(rows)};
}

/// Rows of one entry and as many of 63, the short ones first, or in turn.
CsrMatrix two_lengths(Index rows, bool is_mixed) {
  RandomStream random(11, 0);
  Entries entries;
  for (Index row = 0; row < rows; ++row) {
    const bool is_long = is_mixed ? row % 2 == 1 : row >= rows / 2;
    for (Index k = 0; k < (is_long ? 63 : 1); ++k) {
      entries.emplace_back(row, static_cast<Index>(random.below(static_cast<std::uint64_t>(rows))));
    }
  }
  return pattern_of(rows, rows, std::move(entries));
}

Offset cut(const CsrMatrix& matrix, const Partition& partition) {
  Offset entries = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset e = matrix.row_offsets()[row]; e < matrix.row_offsets()[row + 1]; ++e) {
      entries += (*partition.part_of_row)[row] != (*partition.part_of_row)[matrix.col_indices()[e]];
    }
  }
  return entries;
}

TEST(StreamParts, AreBalancedByEntriesOnEveryShape) {
  for (const CsrMatrix& matrix :
       {grid(40, 30), star(500), path(300), pattern_of(200, 50, {{3, 7}, {9, 1}}),
        pattern_of(64, 9, {}), planted(4000)}) {
    for (const Index parts : {1, 2, 7, 64}) {
      for (const int passes : {1, 3}) {
        const Partition partition = stream_parts(matrix, in_parts(parts, passes));
        ASSERT_EQ(partition.part_of_row->size(), matrix.rows());
        Offset longest = 0;
        for (Index row = 0; row < matrix.rows(); ++row) {
          longest = std::max({longest, matrix.row_length(row), Offset{1}});
          ASSERT_GE((*partition.part_of_row)[row], 0);
          ASSERT_LT((*partition.part_of_row)[row], parts);
        }
        double all = 0;
        for (Index row = 0; row < matrix.rows(); ++row) {
          all += static_cast<double>(std::max<Offset>(matrix.row_length(row), 1));
        }
        // A row that finds no room goes to a part with fewest entries, or rows.
        const Imbalance found = imbalance(matrix, partition);
        EXPECT_LE(found.entries, 1.05 + static_cast<double>(longest) * parts / all);
      }
    }
  }
}

TEST(StreamParts, AreBalancedByRowsAsWell) {
  // By entries alone, short rows may fill parts of their own, 1.97 times the mean.
  for (const bool is_mixed : {false, true}) {
    for (const Index parts : {2, 8}) {
      for (const int passes : {1, 10}) {
        const CsrMatrix matrix = two_lengths(8000, is_mixed);
        const Imbalance found = imbalance(matrix, stream_parts(matrix, in_parts(parts, passes)));
        EXPECT_LT(found.entries, 1.06) << parts << " parts, " << passes << " passes";
        EXPECT_LT(found.rows, 1.06) << parts << " parts, " << passes << " passes";
      }
    }
  }
}

TEST(StreamParts, FindPlantedCommunities) {
  const CsrMatrix matrix = planted(8000);
  const Offset found = cut(matrix, stream_parts(matrix, in_parts(8)));
  EXPECT_LT(found, matrix.nnz() * 3 / 10);  // at random 7 of 8 are cut; a fifth leaves communities
  EXPECT_LT(found, cut(matrix, stream_parts(matrix, in_parts(8, 1))));
}

TEST(StreamParts, PutRowsTogetherThatShareColumns) {
  // Rectangular: row i reads 6 of the 10 columns of its kind, which is i % 4.
  Entries entries;
  for (Index row = 0; row < 2000; ++row) {
    for (Index k = 0; k < 6; ++k) entries.emplace_back(row, 10 * (row % 4) + (row / 4 + k) % 10);
  }
  const CsrMatrix matrix = pattern_of(2000, 40, entries);
  const Partition partition = stream_parts(matrix, in_parts(4));
  Offset pairs = 0;  // columns read by a part, once for each part
  for (Index col = 0; col < 40; ++col) {
    std::set<Index> readers;
    for (const auto& [row, at] : entries) {
      if (at == col) readers.insert((*partition.part_of_row)[row]);
    }
    pairs += static_cast<Offset>(readers.size());
  }
  EXPECT_LT(pairs, 80);  // 40 at best, 160 at random
}

TEST(StreamParts, AreTheSameEveryTime) {
  const CsrMatrix matrix = planted(3000);
  const Partition once = stream_parts(matrix, in_parts(5)),
                  twice = stream_parts(matrix, in_parts(5));
  EXPECT_TRUE(
      std::equal(once.part_of_row->begin(), once.part_of_row->end(), twice.part_of_row->begin()));
}

TEST(StreamParts, ForecastCoversItsArrays) {
  EXPECT_GE(stream_parts_bytes(1000, 500, 8), (1000u + 500u) * 4 + 8 * (2 * 4 + 4 * 8));
}

}  // namespace
}  // namespace csrkit

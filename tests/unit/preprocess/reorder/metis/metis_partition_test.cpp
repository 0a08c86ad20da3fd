#include <gtest/gtest.h>

#include <cmath>

#include "preprocess/reorder/reorder.h"
#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

class MetisPartition : public testing::Test {
 protected:
  void SetUp() override {
    for (const ReorderMethod& method : reorder_methods()) {
      if (std::string(method.name) == kName && !method.is_available) {
        GTEST_SKIP() << "built without METIS";
      }
    }
  }

  static constexpr const char* kName = "metis-partition";

  static Ordering divide(const CsrMatrix& matrix, Index parts) {
    ReorderOptions options;
    if (parts > 0) options.parameters["parts"] = std::to_string(parts);
    return make_ordering(kName, matrix, options);
  }

  /// Rows per part; fails if the partition does not follow the new order.
  static std::vector<Index> sizes(const Ordering& ordering) {
    const Partition& partition = *ordering.partition;
    std::vector<Index> count(static_cast<std::size_t>(partition.parts), 0);
    EXPECT_EQ(partition.part_of_row->size(), ordering.order.size());
    Index previous_part = 0, previous_old = -1;
    for (Index row = 0; row < ordering.order.size(); ++row) {
      const Index part = (*partition.part_of_row)[row];
      const Index old = ordering.order.old_of_new()[row];
      EXPECT_GE(part, previous_part);
      EXPECT_LT(part, partition.parts);
      if (part == previous_part) {
        EXPECT_GT(old, previous_old) << "not in their old order";
      }
      previous_part = part;
      previous_old = old;
      ++count[static_cast<std::size_t>(part)];
    }
    return count;
  }

  /// Entries between parts, with the partition applied to the reordered matrix.
  static Offset cut(const CsrMatrix& matrix, const Ordering& ordering) {
    const CsrMatrix moved = permute_both(matrix, ordering.order);
    const Buffer<Index>& part = *ordering.partition->part_of_row;
    Offset entries = 0;
    for (Index row = 0; row < moved.rows(); ++row) {
      for (Offset at = moved.row_offsets()[row]; at < moved.row_offsets()[row + 1]; ++at) {
        entries += part[row] != part[moved.col_indices()[at]];
      }
    }
    return entries;
  }
};

TEST_F(MetisPartition, PartsMayHaveEquallyManyEntriesAndRows) {
  // A third of the rows is dense: equally many rows are far from equally many entries.
  test::Entries entries;
  for (Index row = 0; row < 600; ++row) {
    const Index reach = row < 200 ? 20 : 1;
    for (Index k = 1; k <= reach; ++k) {
      if (row + k < 600) entries.emplace_back(row, row + k);
    }
  }
  const CsrMatrix matrix = test::undirected(600, entries);
  const auto largest = [&](const char* balance, bool is_of_rows) {
    ReorderOptions options;
    options.parameters = {{"parts", "4"}, {"balance", balance}};
    const Ordering ordering = make_ordering(kName, matrix, options);
    std::vector<Offset> count(4, 0);
    for (Index row = 0; row < 600; ++row) {
      count[static_cast<std::size_t>((*ordering.partition->part_of_row)[row])] +=
          is_of_rows ? 1 : matrix.row_length(ordering.order.old_of_new()[row]);
    }
    return static_cast<double>(*std::max_element(count.begin(), count.end())) * 4 /
           static_cast<double>(is_of_rows ? matrix.rows() : matrix.nnz());
  };
  EXPECT_GT(largest("rows", false), 1.5);
  EXPECT_LT(largest("rows", true), 1.15);
  EXPECT_LT(largest("entries", false), 1.15);
  EXPECT_GT(largest("entries", true), 1.5);
  EXPECT_LT(largest("both", false), 1.15);
  EXPECT_LT(largest("both", true), 1.15);
}

TEST_F(MetisPartition, FindsTwoCliques) {
  test::Entries edges{{0, 1}};  // even and odd vertices, one edge between
  for (Index u = 0; u < 40; ++u) {
    for (Index v = u + 2; v < 40; v += 2) edges.emplace_back(u, v);
  }
  const Ordering ordering = divide(test::undirected(40, edges), 2);
  EXPECT_EQ(sizes(ordering), (std::vector<Index>{20, 20}));
  for (Index row = 1; row < 20; ++row) {
    EXPECT_EQ(ordering.order.old_of_new()[row] % 2, ordering.order.old_of_new()[0] % 2);
  }
}

TEST_F(MetisPartition, CutsAGridIntoEvenPiecesWithShortBorders) {
  const CsrMatrix matrix = test::shuffled(test::grid(64, 64), 8);
  for (const Index parts : {2, 4, 16, 33}) {
    SCOPED_TRACE(parts);
    const Ordering ordering = divide(matrix, parts);
    for (const Index rows : sizes(ordering)) EXPECT_LE(rows, 4096 * 1.1 / parts + 1);
    // Squares of 4096 / parts vertices would have this much border; a random division cuts
    // (1 - 1 / parts) of the 16128 entries.
    EXPECT_LT(cut(matrix, ordering), 2 * 2 * 64 * std::sqrt(static_cast<double>(parts)));
  }
}

TEST_F(MetisPartition, OnePartIsTheIdentity) {
  const Ordering ordering = divide(test::grid(5, 5), 1);
  for (Index row = 0; row < 25; ++row) EXPECT_EQ(ordering.order.new_of_old()[row], row);
  EXPECT_EQ(sizes(ordering), (std::vector<Index>{25}));
}

TEST_F(MetisPartition, AsManyPartsAsRowsAndNoMore) {
  EXPECT_EQ(sizes(divide(test::path(4), 4)), (std::vector<Index>{1, 1, 1, 1}));
  EXPECT_EQ(sizes(divide(test::pattern_of(0, 0, {}), 1)), (std::vector<Index>{0}));
  EXPECT_THROW(divide(test::path(3), 4), UsageError);
  EXPECT_THROW(divide(test::path(3), kMaxIndex), UsageError);
  EXPECT_THROW(divide(test::pattern_of(0, 0, {}), 2), UsageError);
}

TEST_F(MetisPartition, NearlyAsManyPartsAsRows) {
  for (const Index parts : {9, 15, 30, 59}) sizes(divide(test::grid(6, 10), parts));
}

TEST_F(MetisPartition, RowsWithoutEdgesAreDividedAsTheyAre) {
  EXPECT_EQ(sizes(divide(test::pattern_of(10, 10, {}), 4)), (std::vector<Index>{3, 2, 3, 2}));
  EXPECT_EQ(sizes(divide(test::pattern_of(4, 4, {{1, 1}, {3, 3}}), 2)), (std::vector<Index>{2, 2}));
}

TEST_F(MetisPartition, InsideAPartRowsAscendByLength) {
  ReorderOptions options;
  options.parameters["parts"] = "7";
  options.parameters["inside"] = "degree";
  const CsrMatrix matrix = test::power_law(600, 6000, 3);
  const Ordering ordering = make_ordering(kName, matrix, options);
  const Buffer<Index>& part = *ordering.partition->part_of_row;
  const CsrMatrix moved = permute_both(matrix, ordering.order);
  for (Index row = 1; row < moved.rows(); ++row) {
    EXPECT_GE(part[row], part[row - 1]);
    if (part[row] == part[row - 1]) {
      EXPECT_GE(moved.row_length(row), moved.row_length(row - 1));
    }
  }
}

TEST_F(MetisPartition, InsideAPartRcmMakesNarrowBands) {
  ReorderOptions options;
  options.parameters["parts"] = "9";
  const CsrMatrix matrix = test::shuffled(test::grid(60, 60), 6);
  const auto widest_inside = [&] {
    const Ordering ordering = make_ordering(kName, matrix, options);
    const Buffer<Index>& part = *ordering.partition->part_of_row;
    const CsrMatrix moved = permute_both(matrix, ordering.order);
    Index widest = 0;
    for (Index row = 0; row < moved.rows(); ++row) {
      if (row > 0) {
        EXPECT_GE(part[row], part[row - 1]) << "parts are torn";
      }
      for (Offset at = moved.row_offsets()[row]; at < moved.row_offsets()[row + 1]; ++at) {
        const Index col = moved.col_indices()[at];
        if (part[col] == part[row]) widest = std::max(widest, std::abs(col - row));
      }
    }
    return widest;
  };
  EXPECT_GT(widest_inside(), 200);  // parts have 400 rows
  options.parameters["inside"] = "rcm";
  EXPECT_LT(widest_inside(), 45);
}

TEST_F(MetisPartition, PartsFollowTheCache) {
  ReorderOptions options;
  options.parameters = {{"cache-size", "1M"}, {"dense-cols", "256"}};  // 1 KiB a row
  EXPECT_EQ(make_ordering(kName, test::path(10240), options).partition->parts, 10);
  options.parameters["cache-size"] = "1";  // not even a row fits: a part for each
  EXPECT_EQ(make_ordering(kName, test::path(5), options).partition->parts, 5);
  options.parameters["dense-cols"] = "0";
  EXPECT_THROW(make_ordering(kName, test::path(5), options), UsageError);
  options.parameters = {{"cache-size", "1M"}, {"parts", "2"}};  // which of the two?
  EXPECT_THROW(make_ordering(kName, test::path(5), options), UsageError);
}

TEST_F(MetisPartition, ByDefaultAPartsRowsOfBFitOneMebibyte) {
  EXPECT_EQ(divide(test::path(4096), 0).partition->parts, 1);
  EXPECT_EQ(divide(test::path(4097), 0).partition->parts, 2);
  EXPECT_EQ(divide(test::path(40960), 0).partition->parts, 10);
}

}  // namespace
}  // namespace csrkit

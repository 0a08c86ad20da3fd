#include <gtest/gtest.h>

#include <algorithm>

#include "studies/parallel_sorts/sorts.h"

namespace csrkit::studies {
namespace {

/// Several threads on few cores wait for each other: they get the sizes that matter to them only.
std::vector<std::int64_t> sizes_for(int threads) {
  if (threads > 1) return {2, 3, 257, 3001};
  return {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 100, 255, 256, 257, 3001};
}

class EverySort : public testing::TestWithParam<Sort> {};

TEST_P(EverySort, GivesTheSortedEntriesOfEveryDistributionSizeAndThreadCount) {
  for (const std::string& distribution : distributions()) {
    for (const int threads : {1, 3}) {
      for (const std::int64_t size : sizes_for(threads)) {
        const Entries input = make_entries(distribution, size, 7);
        Entries expected = input;
        std::stable_sort(expected.begin(), expected.end());
        Entries found = input;
        GetParam().sort(found, threads);
        ASSERT_EQ(found.size(), expected.size());
        if (!GetParam().is_stable) {
          // Among equals any order will do: compare keys, then the set of payloads.
          ASSERT_TRUE(std::is_sorted(found.begin(), found.end()));
          std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) {
            return a.key != b.key ? a.key < b.key : a.payload < b.payload;
          });
        }
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i].key, expected[i].key)
              << distribution << ", size " << size << ", threads " << threads << ", at " << i;
          ASSERT_EQ(found[i].payload, expected[i].payload)
              << distribution << ", size " << size << ", threads " << threads << ", at " << i;
        }
      }
    }
  }
}

TEST_P(EverySort, TakesTheLargestKeyOfAll) {
  Entries entries = {{~std::uint64_t{0}, 0}, {0, 1}, {~std::uint64_t{0}, 2}};
  GetParam().sort(entries, 2);
  EXPECT_EQ(entries[0].payload, 1u);
  EXPECT_EQ(entries[1].payload + entries[2].payload, 2u);
}

INSTANTIATE_TEST_SUITE_P(ParallelSorts, EverySort, testing::ValuesIn(sorts()),
                         [](const auto& sort) { return std::string(sort.param.name); });

TEST(PreparedCoo, KeepsTheFirstEntryOfEveryKey) {
  for (const std::string& distribution : distributions()) {
    const Entries input = make_entries(distribution, 3001, 7);
    Entries expected = input;
    std::stable_sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end(),
                               [](const Entry& a, const Entry& b) { return a.key == b.key; }),
                   expected.end());
    const CsrMatrix found = PreparedCoo(input).convert(2);
    ASSERT_EQ(found.nnz(), static_cast<Offset>(expected.size())) << distribution;
    const auto* values = static_cast<const double*>(found.values());
    for (Index row = 0; row < found.rows(); ++row) {
      for (Offset at = found.row_offsets()[row]; at < found.row_offsets()[row + 1]; ++at) {
        ASSERT_EQ(expected[at].key, static_cast<std::uint64_t>(row) << 32 |
                                        static_cast<std::uint64_t>(found.col_indices()[at]));
        ASSERT_EQ(static_cast<double>(expected[at].payload), values[at]);
      }
    }
  }
}

TEST(MakeEntries, IsSeededAndOfTheShapeItsNameSays) {
  EXPECT_EQ(make_entries("uniform", 10, 1)[3].key, make_entries("uniform", 10, 1)[3].key);
  EXPECT_NE(make_entries("uniform", 10, 1)[3].key, make_entries("uniform", 10, 2)[3].key);
  const Entries sorted = make_entries("sorted", 1000, 1);
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  const Entries reversed = make_entries("reversed", 1000, 1);
  EXPECT_TRUE(std::is_sorted(reversed.rbegin(), reversed.rend()));
  const Entries nearly = make_entries("nearly_sorted", 1000, 1);
  EXPECT_FALSE(std::is_sorted(nearly.begin(), nearly.end()));
  EXPECT_THROW(make_entries("bell", 10, 1), std::invalid_argument);
}

// Shi and Schaeffer (1992): with regular sampling no part is above twice the mean, however the keys
// lie; equal keys, which are never parted, add at most their number.
TEST(SampleSort, NoPartIsAboveTwiceTheMean) {
  for (const std::string& distribution : distributions()) {
    for (const int threads : {2, 3, 8, 16}) {
      const std::int64_t size = 40 * threads * threads;
      Entries entries = make_entries(distribution, size, 7);
      const std::vector<std::int64_t> parts = sample_sort_parts(entries, threads);
      ASSERT_EQ(parts.size(), static_cast<std::size_t>(threads));
      std::int64_t equal = 0, most_equal = 0, total = 0;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        equal = i > 0 && entries[i].key == entries[i - 1].key ? equal + 1 : 1;
        most_equal = std::max(most_equal, equal);
      }
      for (const std::int64_t part : parts) {
        total += part;
        EXPECT_LE(part, 2 * size / threads + most_equal - 1)
            << distribution << ", threads " << threads;
      }
      EXPECT_EQ(total, size);
    }
  }
}

}  // namespace
}  // namespace csrkit::studies

#include "preprocess/reorder/parts/part_nesting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

using namespace test;

Partition partition_of(const std::vector<Index>& part_of_row, Index parts) {
  return {parts, std::make_shared<const Buffer<Index>>(Buffer<Index>::copy_of(
                     part_of_row.data(), static_cast<Offset>(part_of_row.size())))};
}

/// Entries between parts of a level, the parts renumbered.
Offset cut_at(const CsrMatrix& matrix, const Partition& partition,
              const std::vector<Index>& numbers, Index level) {
  const Index ratio = partition.parts / level;
  Offset entries = 0;
  const auto part = [&](Index row) {
    return numbers[static_cast<std::size_t>((*partition.part_of_row)[row])] / ratio;
  };
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset e = matrix.row_offsets()[row]; e < matrix.row_offsets()[row + 1]; ++e) {
      entries += part(row) != part(matrix.col_indices()[e]);
    }
  }
  return entries;
}

void expect_permutation(std::vector<Index> numbers) {
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], static_cast<Index>(i));
}

TEST(PartNesting, PutsPartsOfAPathBackInARow) {
  // 16 stretches of a path, numbered by chance: at every level one entry each way between parts.
  const CsrMatrix matrix = path(320);
  std::vector<Index> shuffled(16);
  std::iota(shuffled.begin(), shuffled.end(), Index{0});
  RandomStream random(3, 0);
  for (std::size_t i = 15; i > 0; --i) std::swap(shuffled[i], shuffled[random.below(i + 1)]);
  std::vector<Index> part_of_row;
  for (Index row = 0; row < 320; ++row) {
    part_of_row.push_back(shuffled[static_cast<std::size_t>(row / 20)]);
  }
  const Partition partition = partition_of(part_of_row, 16);
  const std::vector<Index> numbers = nested_numbers(matrix, partition, {2, 4, 8, 16});
  expect_permutation(numbers);
  EXPECT_EQ(cut_at(matrix, partition, numbers, 16), 30);
  // A greedy walk may leave a stretch alone between two groups, but not many.
  EXPECT_LE(cut_at(matrix, partition, numbers, 8), 18);
  EXPECT_LE(cut_at(matrix, partition, numbers, 4), 14);
  EXPECT_LE(cut_at(matrix, partition, numbers, 2), 10);
}

TEST(PartNesting, FindsGroupsThatAreThere) {
  // 12 parts of 5 rows each; parts with equal remainders by 3 are tied by many entries.
  Entries entries;
  for (Index a = 0; a < 60; ++a) {
    for (Index b = 0; b < 60; ++b) {
      if ((a / 5) % 3 == (b / 5) % 3) entries.emplace_back(a, b);
      if ((a + b) % 7 == 0) entries.emplace_back(a, b);
    }
  }
  const CsrMatrix matrix = pattern_of(60, 60, entries);
  std::vector<Index> part_of_row;
  for (Index row = 0; row < 60; ++row) part_of_row.push_back(row / 5);
  const std::vector<Index> numbers =
      nested_numbers(matrix, partition_of(part_of_row, 12), {3, 6, 12});
  expect_permutation(numbers);
  for (Index a = 0; a < 12; ++a) {
    for (Index b = 0; b < 12; ++b) {
      const bool is_same_group =
          numbers[static_cast<std::size_t>(a)] / 4 == numbers[static_cast<std::size_t>(b)] / 4;
      EXPECT_EQ(is_same_group, a % 3 == b % 3) << a << " " << b;
    }
  }
}

TEST(PartNesting, LooksAtSharedColumnsOfRectangles) {
  Entries entries;  // parts 0 and 2 read columns 0 to 9, parts 1 and 3 the others
  for (Index row = 0; row < 40; ++row) {
    for (Index k = 0; k < 5; ++k) entries.emplace_back(row, 10 * (row / 10 % 2) + (row + k) % 10);
  }
  const CsrMatrix matrix = pattern_of(40, 20, entries);
  std::vector<Index> part_of_row;
  for (Index row = 0; row < 40; ++row) part_of_row.push_back(row / 10);
  const std::vector<Index> numbers = nested_numbers(matrix, partition_of(part_of_row, 4), {2, 4});
  EXPECT_EQ(numbers[0] / 2, numbers[2] / 2);
  EXPECT_EQ(numbers[1] / 2, numbers[3] / 2);
  EXPECT_NE(numbers[0] / 2, numbers[1] / 2);
}

TEST(PartNesting, LeavesNumbersAloneWithoutALevelToMake) {
  const CsrMatrix matrix = path(30);
  const Partition partition = partition_of(std::vector<Index>(30, 4), 5);
  std::vector<Index> as_they_are{0, 1, 2, 3, 4};
  EXPECT_EQ(nested_numbers(matrix, partition, {5}), as_they_are);
  EXPECT_EQ(nested_numbers(matrix, partition, {1, 5}), as_they_are);
  const Partition many = partition_of(std::vector<Index>(30, 0), 8192);
  EXPECT_EQ(nested_numbers(matrix, many, {8192}).size(), 8192u);
  EXPECT_THROW(nested_numbers(matrix, many, {2, 8192}), UsageError);
}

}  // namespace
}  // namespace csrkit

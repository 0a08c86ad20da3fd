#include "core/facts/row_visits.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace csrkit {
namespace {

/// Rows of these lengths, as visits_of takes them.
std::vector<Offset> sums_of(const std::vector<Offset>& lengths) {
  std::vector<Offset> sums = {0};
  for (const Offset length : lengths) sums.push_back(sums.back() + length);
  return sums;
}

std::vector<Index> rows_of(const std::vector<Visit>& visits) {
  std::vector<Index> rows;
  for (const Visit& visit : visits) {
    for (Index row = visit.first; row < visit.last; ++row) rows.push_back(row);
  }
  return rows;
}

std::vector<std::vector<Index>> rows_of_all(const std::vector<Offset>& lengths,
                                            const ReadOrder& order) {
  std::vector<std::vector<Index>> rows;
  for (const auto& visits : visits_of(sums_of(lengths), order)) rows.push_back(rows_of(visits));
  return rows;
}

using Rows = std::vector<std::vector<Index>>;

TEST(RowVisits, OneWorkerGoesFromTopToBottom) {
  EXPECT_EQ(rows_of_all({3, 0, 5, 1}, {}), (Rows{{0, 1, 2, 3}}));
  EXPECT_EQ(rows_of_all({}, {}), (Rows{{}}));
}

TEST(RowVisits, WorkersHavePiecesOfEqualNonzeros) {
  EXPECT_EQ(rows_of_all({6, 1, 1, 1, 1, 2}, {2, 0, true}), (Rows{{0}, {1, 2, 3, 4, 5}}));
  EXPECT_EQ(rows_of_all({100, 1}, {3, 0, true}), (Rows{{0}, {}, {1}}));
}

TEST(RowVisits, RowsAreDealtInTurn) {
  EXPECT_EQ(rows_of_all({1, 1, 1, 1, 1, 1, 1}, {2, 2, true}), (Rows{{0, 1, 4, 5}, {2, 3, 6}}));
}

/// Each goes on to the first end of a row at or after the next multiple of 64 of its own nonzeros.
TEST(RowVisits, WorkersThatShareACacheGoInStep) {
  const std::vector<Offset> lengths = {40, 40, 64, 16, 100, 60};  // 160 for each of two workers
  EXPECT_EQ(rows_of_all(lengths, {2, 0, false}), (Rows{{0, 1, 4, 2, 5, 3}}));
}

TEST(RowVisits, EveryRowIsVisitedOnce) {
  std::vector<Offset> lengths;
  for (Offset row = 0; row < 200; ++row) lengths.push_back(row * 37 % 91);
  for (const bool is_private : {false, true}) {
    for (const Index rows_per_turn : {0, 1, 7, 500}) {
      for (const int workers : {1, 2, 5, 300}) {
        std::vector<Index> all;
        for (const auto& rows : rows_of_all(lengths, {workers, rows_per_turn, is_private})) {
          all.insert(all.end(), rows.begin(), rows.end());
        }
        std::sort(all.begin(), all.end());
        ASSERT_EQ(all.size(), lengths.size());
        for (std::size_t row = 0; row < all.size(); ++row) {
          ASSERT_EQ(all[row], static_cast<Index>(row));
        }
      }
    }
  }
}

}  // namespace
}  // namespace csrkit

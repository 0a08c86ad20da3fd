#include "cpu/spmv/slice_diagonals.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/property/matrices.h"

namespace csrkit::cpu::spmv {
namespace {

constexpr Index kLanes = 8, kRows = kLaneParts * kLanes, kFirst = 3;

/// A whole diagonal, one on rows 0 to 5 of each part, one on three rows, and a hub.
CsrMatrix matrix() {
  return testing::matrix_where(kFirst + kRows, 200, [](Index i, Index j) {
    const Index row = i - kFirst, diagonal = j - row;
    if (row < 0) return j < 20;
    if (row == 9) return true;
    return diagonal == 4 || (diagonal == 40 && row % kLanes < 6) || (diagonal == 7 && row < 3);
  });
}

TEST(SliceDiagonals, EveryEntryIsInOneRunOrLeft) {
  const CsrMatrix a = matrix();
  SliceDiagonals slice(a, 100, kLanes);
  slice.go_to(kFirst, kFirst + kRows);
  std::set<std::pair<Index, Offset>> seen;
  Offset in_runs = 0;
  slice.for_runs(
      [&](int part, Index first, unsigned mask, const OnDiagonal* its, Index count) {
        // The hub has no entries here, so no diagonal has all rows.
        ASSERT_TRUE(part == 1 || part == 2);
        const Index begin = (part - 1) * kLanes;
        for (Index n = 0; n < count; ++n) {
          const Index row = kFirst + its[n].lane();
          EXPECT_TRUE(seen.insert({its[n].lane(), its[n].in_row()}).second);
          EXPECT_EQ(a.col_indices()[a.row_offsets()[row] + its[n].in_row()],
                    first + its[n].lane() - begin);
          EXPECT_TRUE(mask >> (its[n].lane() - begin) & 1);
        }
        EXPECT_EQ(__builtin_popcount(mask), count);
        EXPECT_GE(count, 5);
        in_runs += count;
      },
      [&](const OnDiagonal& entry) {
        EXPECT_EQ(entry.diagonal(), 7);
        EXPECT_TRUE(seen.insert({entry.lane(), entry.in_row()}).second);
      });
  EXPECT_EQ(static_cast<Offset>(seen.size()), slice.entries());
  EXPECT_EQ(slice.entries(), 15 + 11 + 3);
  EXPECT_EQ(in_runs, 15 + 11);
}

TEST(SliceDiagonals, AWholeDiagonalIsARunOfAllRows) {
  const CsrMatrix a = testing::identity_matrix(kRows, ValueKind::f64);
  SliceDiagonals slice(a, 100, kLanes);
  slice.go_to(0, kRows);
  int runs = 0;
  slice.for_runs(
      [&](int part, Index first, unsigned, const OnDiagonal*, Index count) {
        EXPECT_EQ(part, 0);
        EXPECT_EQ(first, 0);
        EXPECT_EQ(count, kRows);
        ++runs;
      },
      [](const OnDiagonal&) { FAIL() << "left"; });
  EXPECT_EQ(runs, 1);
  // A slice of fewer rows has no run of all rows.
  slice.go_to(0, 3);
  EXPECT_EQ(slice.entries(), 3);
  slice.for_runs([](int, Index, unsigned, const OnDiagonal*, Index) { FAIL() << "a run"; },
                 [](const OnDiagonal&) {});
}

}  // namespace
}  // namespace csrkit::cpu::spmv

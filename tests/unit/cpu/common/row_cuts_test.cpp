#include "cpu/common/row_cuts.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace csrkit::cpu {
namespace {

/// Rows of these lengths; the columns do not matter.
CsrMatrix matrix_of_lengths(const std::vector<Offset>& lengths) {
  const auto rows = static_cast<Index>(lengths.size());
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  row_offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) {
    row_offsets[i + 1] = row_offsets[i] + lengths[static_cast<std::size_t>(i)];
  }
  const Offset nnz = row_offsets[rows];
  Buffer<Index> cols(nnz);
  Index longest = 0;
  for (Index i = 0; i < rows; ++i) {
    const Offset begin = row_offsets[i], end = row_offsets[i + 1];
    std::iota(cols.data() + begin, cols.data() + end, 0);
    longest = std::max(longest, static_cast<Index>(end - begin));
  }
  return CsrMatrix(rows, longest, std::move(row_offsets), std::move(cols), ValueArray());
}

/// Every entry and row belongs to exactly one task, in order; tasks of rows begin at multiples.
void expect_everything_once(const CsrMatrix& a, const PieceSizes& sizes) {
  const RowCuts cuts = cut_rows(a, sizes);
  std::vector<int> times(static_cast<std::size_t>(a.nnz()), 0);
  std::vector<int> row_times(static_cast<std::size_t>(a.rows()), 0);
  const auto is_hub = [&](Index row) { return a.row_length(row) > cuts.hub_length; };
  const auto count = [&](Offset begin, Offset end) {
    for (Offset at = begin; at < end; ++at) ++times[static_cast<std::size_t>(at)];
  };
  for (const Task& task : cuts.tasks) {
    ASSERT_LT(task.first, task.last);
    if (task.stretch >= 0) {
      count(task.first, task.last);
      continue;
    }
    EXPECT_EQ(task.first % sizes.rows_at_once, 0);
    for (auto row = static_cast<Index>(task.first); row < task.last; ++row) {
      if (is_hub(row)) {
        EXPECT_TRUE(task.holds_hub);
        continue;
      }
      ++row_times[static_cast<std::size_t>(row)];
      count(a.row_offsets()[row], a.row_offsets()[row + 1]);
    }
  }
  for (const Hub& hub : cuts.hubs) {
    EXPECT_TRUE(is_hub(hub.row));
    ++row_times[static_cast<std::size_t>(hub.row)];
  }
  for (const int n : times) ASSERT_EQ(n, 1);
  for (const int n : row_times) ASSERT_EQ(n, 1);
  EXPECT_LE(cuts.tasks.size() * sizeof(Task) + cuts.hubs.size() * sizeof(Hub),
            row_cuts_bytes(a, sizes));
}

TEST(RowCuts, CoverEverythingOnce) {
  const std::vector<std::vector<Offset>> shapes = {
      {},
      {0},
      {0, 0, 0, 5},
      std::vector<Offset>(5000, 3),
      {3, 9000, 1, 0, 9000, 9000, 2},
      {20000},
      std::vector<Offset>(300, 511),
  };
  for (const std::vector<Offset>& lengths : shapes) {
    for (const Index rows_at_once : {1, 3, 32, 128}) {
      for (const int shares : {0, 1, 7, 500}) {
        PieceSizes sizes;
        sizes.rows_at_once = rows_at_once;
        sizes.shares = shares;
        SCOPED_TRACE(std::to_string(lengths.size()) + " rows, " + std::to_string(rows_at_once) +
                     ", " + std::to_string(shares) + " shares");
        expect_everything_once(matrix_of_lengths(lengths), sizes);
      }
    }
  }
}

// The order of a hub's sums follows from its stretches.
TEST(RowCuts, CutHubsTheSameForAnyNumberOfShares) {
  for (const Offset rows : {40, 1000, 30000}) {
    std::vector<Offset> lengths(static_cast<std::size_t>(rows));
    // Hubs are longer than two pieces, which have 256 to 4096 entries and rows here.
    for (Offset i = 0; i < rows; ++i) {
      lengths[static_cast<std::size_t>(i)] = i % 13 == 0 ? 500 + i * 37 % 9000 : i % 7;
    }
    const CsrMatrix a = matrix_of_lengths(lengths);
    const auto stretches_of = [&](int shares) {
      PieceSizes sizes;
      sizes.shares = shares;
      std::vector<std::array<Offset, 3>> stretches;
      for (const Task& task : cut_rows(a, sizes).tasks) {
        if (task.stretch >= 0) stretches.push_back({task.first, task.last, task.stretch});
      }
      return stretches;
    };
    const auto expected = stretches_of(0);
    EXPECT_FALSE(expected.empty());
    for (const int shares : {1, 2, 3, 7, 16, 64, 500}) {
      EXPECT_EQ(stretches_of(shares), expected) << rows << " rows, " << shares << " shares";
    }
  }
}

TEST(RowCuts, ManyHubsMayLieInOneUnit) {
  std::vector<Offset> lengths(64, 2);
  lengths[5] = lengths[6] = lengths[31] = 5000;
  PieceSizes sizes;
  sizes.rows_at_once = 32;
  const CsrMatrix a = matrix_of_lengths(lengths);
  EXPECT_EQ(cut_rows(a, sizes).hubs.size(), 3u);
  expect_everything_once(a, sizes);
}

}  // namespace
}  // namespace csrkit::cpu

#include "cpu/common/row_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
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

/// An arrow: of 4000 rows ten neighbours have nearly a piece, of 1024, and one of them more.
std::vector<Offset> long_rows_together() {
  std::vector<Offset> lengths(4000, 20);
  for (std::size_t row = 3984; row < 3994; ++row)
    lengths[row] = 900 + static_cast<Offset>(row) % 50;
  lengths[3990] = 1300;
  return lengths;
}

/// Every entry and row belongs to exactly one task, in order; tasks of rows begin at multiples.
void expect_everything_once(const CsrMatrix& a, const PieceSizes& sizes) {
  const RowCuts cuts = cut_rows(a, sizes);
  std::vector<int> times(static_cast<std::size_t>(a.nnz()), 0);
  std::vector<int> row_times(static_cast<std::size_t>(a.rows()), 0);
  const auto count = [&](Offset begin, Offset end) {
    for (Offset at = begin; at < end; ++at) ++times[static_cast<std::size_t>(at)];
  };
  for (const Task& task : cuts.tasks) {
    ASSERT_LT(task.first, task.last);
    if (task.stretch >= 0) {
      count(task.first, task.last);
      continue;
    }
    EXPECT_TRUE(sizes.halves_units || task.first % sizes.rows_at_once == 0);
    for (auto row = static_cast<Index>(task.first); row < task.last; ++row) {
      if (a.row_length(row) > cuts.hub_length) {
        EXPECT_TRUE(task.holds_hub);
        continue;
      }
      ++row_times[static_cast<std::size_t>(row)];
      count(a.row_offsets()[row], a.row_offsets()[row + 1]);
    }
  }
  for (const Hub& hub : cuts.hubs) {
    EXPECT_GT(a.row_length(hub.row), cuts.hub_length);
    ++row_times[static_cast<std::size_t>(hub.row)];
  }
  for (const int n : times) ASSERT_EQ(n, 1);
  for (const int n : row_times) ASSERT_EQ(n, 1);
  // EvenShares have a number for every task.
  EXPECT_LE(cuts.tasks.size() * (sizeof(Task) + sizeof(Offset)) + cuts.hubs.size() * sizeof(Hub),
            row_cuts_bytes(a, sizes));
}

TEST(RowCuts, CoverEverythingOnce) {
  // Just longer than a usual piece, and inside the only one there is.
  std::vector<Offset> long_row_inside(100, 0);
  long_row_inside[50] = 270;
  const std::vector<std::vector<Offset>> shapes = {
      {},
      {0},
      {0, 0, 0, 5},
      std::vector<Offset>(5000, 3),
      {3, 9000, 1, 0, 9000, 9000, 2},
      {20000},
      std::vector<Offset>(300, 511),
      std::vector<Offset>(300, 1100),
      long_rows_together(),
      long_row_inside,
  };
  for (const std::vector<Offset>& lengths : shapes) {
    for (const Index rows_at_once : {1, 3, 32, 128}) {
      for (const int shares : {0, 1, 7, 500}) {
        PieceSizes sizes;
        sizes.rows_at_once = rows_at_once;
        sizes.shares = shares;
        SCOPED_TRACE(std::to_string(lengths.size()) + " rows, " + std::to_string(rows_at_once) +
                     ", " + std::to_string(shares) + " shares");
        for (const bool halves_units : {false, true}) {
          sizes.halves_units = halves_units;
          expect_everything_once(matrix_of_lengths(lengths), sizes);
        }
        if (rows_at_once > 1) continue;
        sizes.halves_units = false;
        for (const Offset shortest : {2, 100, 1024}) {
          sizes.shortest_hub = shortest;
          expect_everything_once(matrix_of_lengths(lengths), sizes);
        }
      }
    }
  }
}

// The order of a hub's sums follows from its stretches.
TEST(RowCuts, CutHubsTheSameForAnyNumberOfShares) {
  for (const Offset rows : {40, 1000, 30000}) {
    std::vector<Offset> lengths(static_cast<std::size_t>(rows));
    // Hubs are longer than two pieces, or one, which have 256 to 4096 entries and rows here.
    for (Offset i = 0; i < rows; ++i) {
      lengths[static_cast<std::size_t>(i)] = i % 13 == 0 ? 500 + i * 37 % 9000 : i % 7;
    }
    const CsrMatrix a = matrix_of_lengths(lengths);
    for (const int kind : {0, 1, 2}) {
      const auto stretches_of = [&](int shares) {
        PieceSizes sizes;
        sizes.halves_units = kind == 1;
        sizes.shortest_hub = kind == 2 ? 300 : 0;
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

Offset entries_of(const CsrMatrix& a, const RowCuts& cuts, const Task& task) {
  if (task.stretch >= 0) return task.last - task.first;
  Offset entries = 0;
  for (auto row = static_cast<Index>(task.first); row < task.last; ++row) {
    if (a.row_length(row) <= cuts.hub_length) entries += a.row_length(row);
  }
  return entries;
}

// Longer rows than the mean, side by side, would be one thread's.
TEST(RowCuts, NoTaskHasMuchMoreThanTwoPieces) {
  PieceSizes sizes;
  sizes.rows_at_once = 32;
  sizes.halves_units = true;
  for (const bool has_long_rows : {true, false}) {
    const CsrMatrix a =
        matrix_of_lengths(has_long_rows ? long_rows_together() : std::vector<Offset>(320, 60));
    const RowCuts cuts = cut_rows(a, sizes);
    EXPECT_EQ(cuts.hubs.size(), has_long_rows ? 1u : 0u) << "longer than one piece";
    Offset most = 0;
    for (const Task& task : cuts.tasks) most = std::max(most, entries_of(a, cuts, task));
    EXPECT_LE(most, has_long_rows ? 3 * 1024 : 1920);
    EXPECT_GT(most, has_long_rows ? 2 * 1024 : 0) << "a 32nd of the work is not cut";
    // Units that are alike are shared out evenly as they are.
    const auto parts = std::count_if(cuts.tasks.begin(), cuts.tasks.end(),
                                     [](const Task& task) { return task.first % 32 != 0; });
    EXPECT_EQ(parts > 0, has_long_rows);
  }
}

TEST(EvenShares, BeginWithTheFirstTaskOfWhichTheyHaveHalf) {
  const CsrMatrix a = matrix_of_lengths({9, 9, 9, 28, 40});
  RowCuts cuts;
  cuts.hub_length = 30;
  cuts.tasks = {{0, 1, -1}, {1, 2, -1}, {2, 3, -1}, {3, 5, -1, true}, {55, 95, 0}};
  const EvenShares shares(a, cuts);  // of work 10, 10, 10, 30 and 40
  const auto firsts = [&](int threads) {
    std::vector<Offset> all;
    for (int thread = 0; thread <= threads; ++thread)
      all.push_back(shares.first_task(thread, threads));
    return all;
  };
  EXPECT_EQ(firsts(1), (std::vector<Offset>{0, 5}));
  EXPECT_EQ(firsts(2), (std::vector<Offset>{0, 4, 5}));
  EXPECT_EQ(firsts(4), (std::vector<Offset>{0, 2, 4, 4, 5})) << "the third middle is at a border";
  EXPECT_EQ(firsts(8), (std::vector<Offset>{0, 1, 2, 3, 4, 4, 4, 5, 5}));
}

// One share of tasks for every thread, none of them left out, and none much larger than the mean.
TEST(EvenShares, HaveAboutEqualWork) {
  for (const Index rows_at_once : {1, 32}) {
    PieceSizes sizes;
    sizes.rows_at_once = rows_at_once;
    sizes.halves_units = true;
    const CsrMatrix a = matrix_of_lengths(long_rows_together());
    const RowCuts cuts = cut_rows(a, sizes);
    const EvenShares shares(a, cuts);
    for (const int threads : {1, 2, 3, 16}) {
      Offset entries = 0;
      EXPECT_EQ(shares.first_task(0, threads), 0);
      EXPECT_EQ(shares.first_task(threads, threads), static_cast<Offset>(cuts.tasks.size()));
      for (int thread = 0; thread < threads; ++thread) {
        Offset share = 0;
        const Offset end = shares.first_task(thread + 1, threads);
        for (Offset n = shares.first_task(thread, threads); n < end; ++n) {
          share += entries_of(a, cuts, cuts.tasks[static_cast<std::size_t>(n)]);
        }
        EXPECT_LE(share, a.nnz() / threads + 2 * 1024) << threads << " threads";
        entries += share;
      }
      EXPECT_EQ(entries, a.nnz());
    }
  }
}

// A row of nearly the length of two pieces has the work of one thread of 16 here, and would be half
// of what the slowest one has.
TEST(EvenShares, AreEvenBesideShortHubs) {
  std::vector<Offset> lengths(14000, 5);
  lengths[9000] = 5900;
  lengths[9001] = 700;
  const CsrMatrix a = matrix_of_lengths(lengths);
  PieceSizes sizes;
  sizes.smallest = sizes.usual = 4096;
  sizes.largest = 16384;
  sizes.shares = 16;
  const auto largest_share = [&] {
    const RowCuts cuts = cut_rows(a, sizes);
    const EvenShares shares(a, cuts);
    Offset most = 0;
    for (int thread = 0; thread < 16; ++thread) {
      Offset share = 0;
      for (Offset n = shares.first_task(thread, 16); n < shares.first_task(thread + 1, 16); ++n) {
        const Task& task = cuts.tasks[static_cast<std::size_t>(n)];
        share += entries_of(a, cuts, task) + (task.stretch < 0 ? task.last - task.first : 0);
      }
      most = std::max(most, share);
    }
    return most;
  };
  const Offset mean = (a.nnz() + a.rows()) / 16;
  EXPECT_GT(largest_share(), mean + mean / 2);
  sizes.shortest_hub = 1024;
  EXPECT_LT(largest_share(), mean + mean / 8);
}

}  // namespace
}  // namespace csrkit::cpu

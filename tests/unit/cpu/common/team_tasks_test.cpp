#include "cpu/common/team_tasks.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <vector>

namespace csrkit::cpu {
namespace {

/// The first row is as much work as all others, of one entry each.
CsrMatrix one_long_row(Index rows) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  row_offsets[0] = 0;
  for (Index row = 0; row < rows; ++row) row_offsets[row + 1] = 2 * Offset{rows} - 2 + row;
  Buffer<Index> col_indices(row_offsets[rows]);
  for (Index row = 0; row < rows; ++row) {
    for (Offset at = row_offsets[row]; at < row_offsets[row + 1]; ++at) {
      col_indices[at] = static_cast<Index>(at - row_offsets[row]);
    }
  }
  return {rows, 2 * rows + 1, std::move(row_offsets), std::move(col_indices), ValueArray()};
}

/// Every row a task, but `small_tasks` fewer pieces.
TeamTasks tasks_of(Index rows, int threads, Offset small_tasks = 0) {
  const CsrMatrix a = one_long_row(rows);
  RowCuts cuts;
  cuts.hub_length = a.nnz();
  cuts.small_tasks = small_tasks;
  for (Index row = 0; row < rows; ++row) cuts.tasks.push_back({row, row + 1, -1});
  TeamTasks tasks(threads);
  tasks.take(a, cuts);
  return tasks;
}

TEST(TeamTasks, AreRunAndOwnedOnceEach) {
  for (const int threads : {1, 2, 5}) {
    for (const Index count : {0, 1, 8, 1000}) {
      TeamTasks tasks = tasks_of(count, threads);
      std::vector<int> times(static_cast<std::size_t>(count));
      const auto count_up = [&times](Offset task) {
#pragma omp atomic
        ++times[static_cast<std::size_t>(task)];
      };
      tasks.by_owners(count_up);
      for (int use = 0; use < 2; ++use) tasks.run(threads, count_up);
      tasks.run(1, count_up);
      EXPECT_EQ(times, std::vector<int>(static_cast<std::size_t>(count), 4));
    }
  }
}

// Tasks belong to threads by their work, few or many: a thread has the long row, and the other one
// all the rest.
TEST(TeamTasks, ThatAreHelpedBelongToThreadsOfAsMuchWork) {
  constexpr Index kRows = 100;
  TeamTasks tasks = tasks_of(kRows, 2);
  std::vector<int> owners(kRows);
  tasks.by_owners(
      [&owners](Offset task) { owners[static_cast<std::size_t>(task)] = omp_get_thread_num(); });
  std::vector<int> expected(kRows, 1);
  expected[0] = 0;
  EXPECT_EQ(owners, expected);
}

// Nor do threads help each other where few pieces are many tasks.
TEST(TeamTasks, OfASmallMatrixAreRunByTheirOwners) {
  for (const Index rows : {8, 100}) {
    TeamTasks tasks = tasks_of(rows, 2, rows - 8);
    std::vector<int> owners(static_cast<std::size_t>(rows)), runners(owners.size());
    const auto write_into = [](std::vector<int>& threads) {
      return [&threads](Offset task) {
        threads[static_cast<std::size_t>(task)] = omp_get_thread_num();
      };
    };
    tasks.by_owners(write_into(owners));
    tasks.run(2, write_into(runners));
    std::vector<int> expected(owners.size(), 1);
    expected[0] = 0;
    EXPECT_EQ(owners, expected);
    EXPECT_EQ(runners, owners);
  }
}

}  // namespace
}  // namespace csrkit::cpu

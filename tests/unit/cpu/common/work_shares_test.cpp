#include "cpu/common/work_shares.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <vector>

namespace csrkit::cpu {
namespace {

TEST(WorkShares, HandsOutEveryTaskOfEveryRoundOnce) {
  for (const int threads : {1, 2, 5}) {
    for (const Offset tasks : {0, 1, 3, 4, 1000}) {
      constexpr Offset kRounds = 3;
      WorkShares shares(threads, kRounds);
      for (int use = 0; use < 2; ++use) {
        std::vector<std::vector<int>> taken(kRounds,
                                            std::vector<int>(static_cast<std::size_t>(tasks)));
        shares.deal(tasks);
#pragma omp parallel num_threads(threads)
        for (Offset round = 0; round < kRounds; ++round) {
          const int thread = omp_get_thread_num();
          for (Offset task = shares.next(round, thread); task >= 0;
               task = shares.next(round, thread)) {
#pragma omp atomic
            ++taken[static_cast<std::size_t>(round)][static_cast<std::size_t>(task)];
          }
        }
        for (const std::vector<int>& round : taken) {
          for (const int times : round) EXPECT_EQ(times, 1);
        }
      }
    }
  }
}

TEST(WorkShares, HandsOutEveryTaskOnceInRuns) {
  for (const int threads : {1, 2, 5}) {
    for (const Offset tasks : {0, 1, 4, 1000}) {
      WorkShares shares(threads, 2);
      std::vector<int> taken(static_cast<std::size_t>(tasks));
      shares.deal(tasks);
#pragma omp parallel num_threads(threads)
      for (Offset round = 0; round < 2; ++round) {
        const int thread = omp_get_thread_num();
        for (auto run = shares.next_run(round, thread); run.first < run.last;
             run = shares.next_run(round, thread)) {
          for (Offset task = run.first; task < run.last; ++task) {
#pragma omp atomic
            ++taken[static_cast<std::size_t>(task)];
          }
        }
      }
      for (const int times : taken) EXPECT_EQ(times, 2);
    }
  }
}

TEST(WorkShares, RunsAreASixthOfWhatIsLeftOfAShare) {
  WorkShares shares(2, 1);
  shares.deal(20);
  std::vector<Offset> begins;
  for (auto run = shares.next_run(0, 1); run.first < run.last; run = shares.next_run(0, 1)) {
    begins.push_back(run.first);
  }
  EXPECT_EQ(begins, (std::vector<Offset>{10, 12, 14, 15, 16, 17, 18, 19, 0, 2, 4, 5, 6, 7, 8, 9}));
}

TEST(WorkShares, OneThreadOfManyDoesAllTheWork) {
  WorkShares shares(4, 1);
  shares.deal(10);
  std::vector<Offset> order;
  for (Offset task = shares.next(0, 2); task >= 0; task = shares.next(0, 2)) order.push_back(task);
  EXPECT_EQ(order, (std::vector<Offset>{5, 6, 7, 8, 9, 0, 1, 2, 3, 4}));
}

TEST(WorkShares, SharesMayHaveAnySize) {
  WorkShares shares(3, 1);
  const std::vector<Offset> firsts{0, 1, 1, 5};
  shares.deal(firsts);
  std::vector<Offset> order;
  for (Offset task = shares.next(0, 2); task >= 0; task = shares.next(0, 2)) order.push_back(task);
  EXPECT_EQ(order, (std::vector<Offset>{1, 2, 3, 4, 0}));
  shares.deal(3);
  EXPECT_EQ(shares.next(0, 2), 2) << "as many tasks each again";
}

TEST(WorkShares, ASecondUseBeginsWithAllTasksWhoeverTookPartInTheFirst) {
  WorkShares shares(3, 1);
  shares.deal(6);
  EXPECT_EQ(shares.next(0, 1), 2);  // the other shares are not touched
  shares.deal(9);
  std::vector<Offset> order;
  for (Offset task = shares.next(0, 1); task >= 0; task = shares.next(0, 1)) order.push_back(task);
  EXPECT_EQ(order, (std::vector<Offset>{3, 4, 5, 6, 7, 8, 0, 1, 2}));
}

}  // namespace
}  // namespace csrkit::cpu

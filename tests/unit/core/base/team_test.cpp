#include "core/base/team.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

namespace csrkit {
namespace {

TEST(Team, ZeroStandsForWhatOpenMpWasTold) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  EXPECT_EQ(team_size(0), 3);
  EXPECT_EQ(team_size(1), 1);
  EXPECT_EQ(team_size(7), 7);
  omp_set_num_threads(before);
}

TEST(Team, IsNeverLargerThanLibgompCanStart) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(100000);
  limit_teams();
  EXPECT_EQ(team_size(0), kMaxThreads);
  omp_set_num_threads(3);
  limit_teams();
  EXPECT_EQ(team_size(0), 3);
  omp_set_num_threads(before);
}

int threads_that_meet() {
  int met = 0;
#pragma omp parallel num_threads(3) reduction(+ : met)
  {
    ++met;
#pragma omp barrier
  }
  return met;
}

// As Python's multiprocessing does: the child has none of the threads, and makes its own.
TEST(Team, IsMadeAnewInAForkedChild) {
  ASSERT_EQ(threads_that_meet(), 3);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // rather than wait for ever
    const bool is_right = threads_that_meet() == 3;
    const pid_t grandchild = ::fork();
    if (grandchild == 0) ::_exit(threads_that_meet() == 3 ? 0 : 1);
    int status = 1;
    ::waitpid(grandchild, &status, 0);
    ::_exit(is_right && status == 0 ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(threads_that_meet(), 3);
}

TEST(Team, FewStepsAreForOneThread) {
  EXPECT_EQ(team_for(0, 5), 1);
  EXPECT_EQ(team_for(100, 5), 1);
  EXPECT_EQ(team_for(1 << 20, 5), 5);
  EXPECT_EQ(team_for(1 << 20, 1), 1);
}

}  // namespace
}  // namespace csrkit

#include "core/base/team.h"

#include <gtest/gtest.h>
#include <omp.h>

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

TEST(Team, FewStepsAreForOneThread) {
  EXPECT_EQ(team_for(0, 5), 1);
  EXPECT_EQ(team_for(100, 5), 1);
  EXPECT_EQ(team_for(1 << 20, 5), 5);
  EXPECT_EQ(team_for(1 << 20, 1), 1);
}

}  // namespace
}  // namespace csrkit

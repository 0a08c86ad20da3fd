#include "core/solve/ritz_values.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(RitzValues, OfNothingAreZero) {
  const auto [lowest, highest] = extreme_ritz_values({});
  EXPECT_EQ(lowest, 0);
  EXPECT_EQ(highest, 0);
}

TEST(RitzValues, OneStepGivesOneValue) {
  const auto [lowest, highest] = extreme_ritz_values({{0.25}, {0}});
  EXPECT_NEAR(lowest, 4, 1e-9);
  EXPECT_NEAR(highest, 4, 1e-9);
}

TEST(RitzValues, AreTheEigenvaluesWhenAllStepsWereMade) {
  // Conjugate gradients in full on diag(1, 2, 5) from (1, 1, 1).
  const double d[3] = {1, 2, 5};
  double r[3] = {1, 1, 1}, p[3] = {1, 1, 1};
  CgSteps steps;
  double rho = 3;
  for (int step = 0; step < 3; ++step) {
    double curvature = 0, next = 0;
    for (int i = 0; i < 3; ++i) curvature += p[i] * d[i] * p[i];
    const double alpha = rho / curvature;
    for (int i = 0; i < 3; ++i) {
      r[i] -= alpha * d[i] * p[i];
      next += r[i] * r[i];
    }
    for (int i = 0; i < 3; ++i) p[i] = r[i] + next / rho * p[i];
    steps.alpha.push_back(alpha);
    steps.beta.push_back(next / rho);
    rho = next;
  }
  const auto [lowest, highest] = extreme_ritz_values(steps);
  EXPECT_NEAR(lowest, 1, 1e-8);
  EXPECT_NEAR(highest, 5, 1e-8);
}

}  // namespace
}  // namespace csrkit

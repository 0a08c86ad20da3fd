#include "core/solve/chebyshev.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace csrkit {
namespace {

/// What the steps make of the eigenvector of one eigenvalue: the factor z / r.
double polynomial(const ChebyshevSteps& steps, double eigenvalue) {
  double d = steps.first, z = d;
  for (const ChebyshevSteps::Step& step : steps.steps) {
    d = step.keep * d + step.add * (1 - eigenvalue * z);
    z += d;
  }
  return z;
}

TEST(Chebyshev, IsPositiveAndLeavesWhatTheoryAllows) {
  const double low = 0.01, high = 2;
  for (const int degree : {1, 2, 5, 12}) {
    const ChebyshevSteps steps = chebyshev_steps(degree, low, high);
    ASSERT_EQ(steps.steps.size(), static_cast<std::size_t>(degree));
    // max |1 - t p(t)| = 1 / T_{degree + 1}(middle / radius)
    const double bound = 1 / std::cosh((degree + 1) * std::acosh((high + low) / (high - low)));
    double worst = 0;
    for (double t = low; t <= high; t += 0.001) {
      const double value = polynomial(steps, t);
      EXPECT_GT(value, 0);
      worst = std::max(worst, std::abs(1 - t * value));
    }
    EXPECT_NEAR(worst, bound, 1e-6 + 1e-3 * bound);
    EXPECT_GT(polynomial(steps, low / 10), 0) << "below the interval, too";
  }
}

TEST(Chebyshev, OneEigenvalueIsInverted) {
  EXPECT_NEAR(polynomial(chebyshev_steps(3, 4, 4), 4), 0.25, 1e-15);
}

TEST(Chebyshev, IntervalsStayWithinWhatIsSure) {
  const CgSteps steps{{0.5}, {0}};  // one Ritz value: 2
  EXPECT_NEAR(chebyshev_interval(steps, 100).second, 2.2, 1e-8);
  EXPECT_NEAR(chebyshev_interval(steps, 2.05).second, 2.05, 1e-8);
  EXPECT_EQ(chebyshev_interval({}, 3).second, 3);
}

}  // namespace
}  // namespace csrkit

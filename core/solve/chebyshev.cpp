#include "core/solve/chebyshev.h"

#include <algorithm>

namespace csrkit {

ChebyshevSteps chebyshev_steps(int degree, double lowest, double highest) {
  const double middle = (highest + lowest) / 2, radius = (highest - lowest) / 2;
  ChebyshevSteps result;
  result.first = 1 / middle;
  if (radius <= 0) {  // one eigenvalue: every step divides by it
    result.steps.assign(static_cast<std::size_t>(degree), {0, 1 / middle});
    return result;
  }
  const double sigma = middle / radius;
  double rho = 1 / sigma;
  for (int step = 0; step < degree; ++step) {
    const double next = 1 / (2 * sigma - rho);
    result.steps.push_back({next * rho, 2 * next / radius});
    rho = next;
  }
  return result;
}

std::pair<double, double> chebyshev_interval(const CgSteps& steps, double sure_bound) {
  const auto [lowest, highest] = extreme_ritz_values(steps);
  if (highest <= 0) return {sure_bound / 2, sure_bound};  // nothing was learnt: b was 0
  const double end = std::min(1.1 * highest, sure_bound);
  return {std::min(lowest, end), end};
}

}  // namespace csrkit

#include "core/solve/ritz_values.h"

#include <algorithm>
#include <cmath>

namespace csrkit {

namespace {

struct Tridiagonal {
  std::vector<double> diagonal, next;  // next[i] couples i and i + 1

  /// How many eigenvalues are below `shift`: the negative pivots of T - shift I.
  std::size_t count_below(double shift) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      const double coupling = i == 0 ? 0 : next[i - 1] * next[i - 1];
      pivot = diagonal[i] - shift - (i == 0 ? 0 : coupling / pivot);
      if (pivot == 0) pivot = 1e-300;  // any tiny number will do in bisection
      if (pivot < 0) ++count;
    }
    return count;
  }

  /// The smallest number with `rank` eigenvalues or more below it.
  double bisect(std::size_t rank, double low, double high) const {
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (count_below(middle) >= rank ? high : low) = middle;
    }
    return (low + high) / 2;
  }
};

}  // namespace

std::pair<double, double> extreme_ritz_values(const CgSteps& steps) {
  const std::size_t size = steps.alpha.size();
  if (size == 0) return {0, 0};
  Tridiagonal matrix{std::vector<double>(size), std::vector<double>(size)};
  double bound = 0;
  for (std::size_t i = 0; i < size; ++i) {
    matrix.diagonal[i] = 1 / steps.alpha[i];
    if (i > 0) matrix.diagonal[i] += steps.beta[i - 1] / steps.alpha[i - 1];
    matrix.next[i] = std::sqrt(std::max(0.0, steps.beta[i])) / steps.alpha[i];
  }
  for (std::size_t i = 0; i < size; ++i) {  // Gershgorin
    const double before = i == 0 ? 0 : matrix.next[i - 1];
    const double after = i + 1 == size ? 0 : matrix.next[i];
    bound = std::max(bound, matrix.diagonal[i] + before + after);
  }
  return {matrix.bisect(1, 0, bound), matrix.bisect(size, 0, bound)};
}

}  // namespace csrkit

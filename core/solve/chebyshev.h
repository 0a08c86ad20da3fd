// The coefficients of the Chebyshev polynomial as a preconditioner, for any kind of vectors.
#pragma once

#include <utility>
#include <vector>

#include "core/solve/ritz_values.h"

namespace csrkit {

/// z approximates the solution of (D^-1 A) z = D^-1 r on an interval of eigenvalues:
///
///   d = first * D^-1 r,  z = d,  and for every step  d = keep * d + add * D^-1 (r - A z),  z += d.
///
/// The polynomial is positive up to the end of the interval, so M is positive definite as long as
/// no eigenvalue lies beyond (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm
/// 12.1).
struct ChebyshevSteps {
  struct Step {
    double keep, add;
  };
  double first = 1;
  std::vector<Step> steps;  // one per product with A
};

ChebyshevSteps chebyshev_steps(int degree, double lowest, double highest);

/// The interval for chebyshev_steps: from the Ritz values of a short run with the Jacobi
/// preconditioner. The upper end is raised by a tenth, because Ritz values lie inside the spectrum,
/// but not beyond `sure_bound`, where no eigenvalue can be.
std::pair<double, double> chebyshev_interval(const CgSteps& steps, double sure_bound);

/// Iterations of that short run.
inline constexpr int kSpectrumIterations = 30;

}  // namespace csrkit

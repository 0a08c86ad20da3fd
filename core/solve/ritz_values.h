// Eigenvalues from the numbers that conjugate gradients compute anyway.
#pragma once

#include <utility>
#include <vector>

namespace csrkit {

/// The step lengths of conjugate gradients, one pair per iteration: x += alpha p, p = z + beta p.
struct CgSteps {
  std::vector<double> alpha, beta;
};

/// The least and the greatest eigenvalue of the tridiagonal matrix that belongs to the steps, to
/// about 1e-10 of the greatest: estimates, from inside, of those of the preconditioned matrix
/// (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section 6.7.3). 0, 0 for no steps.
std::pair<double, double> extreme_ritz_values(const CgSteps& steps);

}  // namespace csrkit

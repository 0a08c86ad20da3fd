// How solutions of linear systems are judged, and which systems are refused before solving.
#pragma once

#include <string>
#include <vector>

#include "core/contract/solve.h"

namespace csrkit {

/// Refuses what a look at A alone shows: InputError for a value that is not finite, or beyond the
/// range of the precision, and for a diagonal element that the precision makes 0; VerifyError if A
/// is not symmetric, where a stored zero equals a place without an entry. Messages begin with
/// `name` (a file) and give the first place. Values that mirror each other may differ by a few
/// roundings of their kind. `threads` as in team_size.
void require_solvable(const SolveProblem& problem, const std::string& name, int threads = 0);

/// How far x is from solving one column.
struct Residual {
  double norm = 0;      // Euclidean, of b - A x as computed in float64 from the stored values
  double rounding = 0;  // bound of float64's error in it: two orders of sums differ by twice that
};

/// Per entry the bound is gamma(k + 1) * (|b| + sum |a x|) for k products (Higham, Accuracy and
/// Stability of Numerical Algorithms, 2nd ed., section 3.1). Views on the host, of any kind.
/// `threads` as in team_size; the same bits for any number.
std::vector<Residual> residuals_of(const SolveProblem& problem, ConstDenseView b, ConstDenseView x,
                                   int threads = 0);

}  // namespace csrkit

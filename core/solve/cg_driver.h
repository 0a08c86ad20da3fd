// What all rooms share of conjugate gradients: when a system counts as solved, when to start again
// from a new residual, when to give up, and what to report.
#pragma once

#include <vector>

#include "core/contract/solve.h"

namespace csrkit {

/// How one run of iterations went for one column.
struct ColumnRun {
  /// converged: the recurrence's norm is at most the target. Never stagnated.
  SolveStatus end = SolveStatus::iteration_limit;
  Offset iterations = 0;
  double norm = 0;  // the recurrence's, of the best iterate
  double curvature = 0;
};

/// A system in the memory of one room. Columns are independent of each other; vectors of numbers
/// have one per column.
class CgMachine {
 public:
  virtual ~CgMachine() = default;

  /// Puts the guess, or 0, into x; 0 where b is 0. Returns the norms of b.
  virtual std::vector<double> start() = 0;

  /// The norms of b - A x, computed anew; that residual is where the next run begins.
  virtual std::vector<double> renew_residual() = 0;

  /// Iterates until every column's norm is at most its target, no column can go on, or `limit` is
  /// reached. Columns that begin at their target do not move. Then x is the best iterate of the
  /// run. Appends the norms of every iteration to `history`.
  virtual std::vector<ColumnRun> run(const std::vector<double>& targets, Offset limit,
                                     std::vector<double>* history) = 0;
};

/// Solves. With `is_refined` the target of a run is what one refinement step can reach.
SolveReport drive_cg(CgMachine& machine, const SolveProblem& problem, bool is_refined);

}  // namespace csrkit

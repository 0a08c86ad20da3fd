// The adapter between the contract of core/contract/solve.h and the solvers here. A solver offers
//
//   std::unique_ptr<SolveMethod> make_<name>(const SolveInput& input);
//
// and becomes a row of kernels.inc.
#pragma once

#include <memory>
#include <string>

#include "core/contract/solve.h"
#include "cpu/common/memory_budget.h"

namespace csrkit::cpu {

/// What a solver is made from. Everything but `budget` may be copied.
struct SolveInput {
  const SolveProblem& problem;
  int threads;          // at least 1
  std::string product;  // PlanOptions::variant: the kernel of products with A, "" = the best one
  MemoryBudget& budget;
  bool deterministic;  // PlanOptions::deterministic
};

/// A solver with everything it derived from A.
class SolveMethod {
 public:
  virtual ~SolveMethod() = default;
  /// B and X of the problem's shape and kind, rows touching each other.
  virtual SolveReport solve(ConstDenseView b, DenseView x) = 0;
  virtual std::string choice() const { return {}; }  // as in Plan
};

std::unique_ptr<Solver> make_solver(const SolveProblem& problem, const PlanOptions& options,
                                    Capabilities capabilities,
                                    std::unique_ptr<SolveMethod> (*make)(const SolveInput&));

}  // namespace csrkit::cpu

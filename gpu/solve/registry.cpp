#include "gpu/plan/kernels.h"
#include "gpu/solve/products.h"
#include "gpu/solve/solver.h"

namespace csrkit::gpu {

std::unique_ptr<Solver> make_auto(const SolveProblem& problem, const PlanOptions& options);

#define CSRKIT_CHOOSER(name, role, can, summary) \
  {{#name, role, can, summary}, make_##name, candidate_products},
#define CSRKIT_KERNEL(name, role, can, summary)                     \
  {{#name, role, can, summary},                                     \
   [](const SolveProblem& problem, const PlanOptions& options) {    \
     return make_solver(problem, options, can, Rung::name, "", ""); \
   },                                                               \
   Rung::name == Rung::persistent ? nullptr : candidate_products},

const KernelTable<Solve>& solve_kernels() {
  static const KernelTable<Solve> table = {
#include "gpu/solve/kernels.inc"
  };
  return table;
}

}  // namespace csrkit::gpu

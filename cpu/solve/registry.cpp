#include "cpu/common/kernels.h"
#include "cpu/solve/plan.h"
#include "cpu/solve/products.h"

namespace csrkit::cpu {

#define CSRKIT_KERNEL(name, role, can, products, summary) \
  std::unique_ptr<SolveMethod> make_##name(const SolveInput&);
#include "cpu/solve/kernels.inc"
#undef CSRKIT_KERNEL

const KernelTable<Solve>& solve_kernels() {
#define CSRKIT_KERNEL(name, role, can, products, summary)        \
  {{#name, role, can, summary},                                  \
   [](const SolveProblem& problem, const PlanOptions& options) { \
     return make_solver(problem, options, can, &make_##name);    \
   },                                                            \
   products},
  static const KernelTable<Solve> table = {
#include "cpu/solve/kernels.inc"
  };
#undef CSRKIT_KERNEL
  return table;
}

}  // namespace csrkit::cpu

#include "gpu/plan/kernels.h"
#include "gpu/solve/products.h"
#include "gpu/solve/solver.h"

namespace csrkit::gpu {

std::unique_ptr<Solver> make_auto(const SolveProblem& problem, const PlanOptions& options);

namespace {

/// vendor_cublas multiplies with the vendor's product, the others with the table's choice ("").
std::string default_product(Rung rung, const SolveProblem& problem) {
  if (rung != Rung::vendor_cublas) return "";
  return problem.dense ? "vendor_symv_atomics" : "vendor_cusparse";
}

}  // namespace

#define CSRKIT_CHOOSER(name, role, can, summary) \
  {{#name, role, can, summary}, make_##name, candidate_products},
#define CSRKIT_KERNEL(name, role, can, summary)                                           \
  {{#name, role, can, summary},                                                           \
   [](const SolveProblem& problem, const PlanOptions& given) {                            \
     PlanOptions options = given;                                                         \
     if (options.variant.empty()) options.variant = default_product(Rung::name, problem); \
     return make_solver(problem, options, can, Rung::name, "", "");                       \
   },                                                                                     \
   is_one_kernel(Rung::name) ? nullptr : candidate_products},

const KernelTable<Solve>& solve_kernels() {
  static const KernelTable<Solve> table = {
#include "gpu/solve/kernels.inc"
  };
  return table;
}

}  // namespace csrkit::gpu

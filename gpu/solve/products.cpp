#include "gpu/solve/products.h"

#include "gpu/plan/kernels.h"

namespace csrkit::gpu {

namespace {

const KernelTable<Spmm>& kernels_for(const SolveProblem& problem) {
  return problem.right_hand_sides == 1 ? spmv_kernels() : spmm_kernels();
}

}  // namespace

std::unique_ptr<Operator> make_product(const SolveProblem& problem, const std::string& name,
                                       ValueKind kind, bool is_captured, DeviceMemory& memory) {
  SpmmProblem product;
  product.a = problem.a;
  if (product.a.value_kind() != kind && product.a.value_kind() != ValueKind::none) {
    product.a = convert_values(product.a, kind);
  }
  product.dense_cols = problem.right_hand_sides;
  product.b = product.c = product.accumulate = kind;
  PlanOptions options;
  options.where.device = memory.device();
  options.where.stream = memory.stream();
  options.memory_limit_bytes = memory.available_bytes();
  const SpmmKernel& kernel = find_kernel(kernels_for(problem), name.empty() ? "auto" : name);
  if (is_captured) {
    require_capabilities(kernel.capabilities, kGraphCapture,
                         std::string(kernel.name) + " inside of this solver");
  }
  if (!kernel.can(kDeterministic)) options.deterministic = false;
  return kernel.make_plan(product, options);
}

std::vector<std::string> candidate_products(const SolveProblem& problem) {
  std::vector<std::string> names;
  for (const SpmmKernel& kernel : kernels_for(problem)) {
    if (kernel.can(kGraphCapture | kDeterministic | kF64)) names.push_back(kernel.name);
  }
  return names;
}

}  // namespace csrkit::gpu

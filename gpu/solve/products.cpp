#include "gpu/solve/products.h"

#include "gpu/plan/kernels.h"
#include "gpu/solve/dense/products.h"

namespace csrkit::gpu {

namespace {

const KernelTable<Spmm>& kernels_for(const SolveProblem& problem) {
  return problem.right_hand_sides == 1 ? spmv_kernels() : spmm_kernels();
}

}  // namespace

std::unique_ptr<Operator> make_product(const SolveProblem& problem, const PlanOptions& options,
                                       ValueKind kind, bool is_captured, DeviceMemory& memory) {
  SpmmProblem product;
  product.a = problem.a;
  if (product.a.value_kind() != kind && product.a.value_kind() != ValueKind::none) {
    product.a = convert_values(product.a, kind);
  }
  product.dense_cols = problem.right_hand_sides;
  product.b = product.c = product.accumulate = kind;
  PlanOptions own;
  own.where.device = memory.device();
  own.where.stream = memory.stream();
  own.memory_limit_bytes = memory.available_bytes();
  own.deterministic = options.deterministic;
  const std::string& name = options.variant;
  const SpmmKernel& kernel = find_kernel(kernels_for(problem), name.empty() ? "auto" : name);
  if (is_captured) {
    require_capabilities(kernel.capabilities, kGraphCapture,
                         std::string(kernel.name) + " inside of this solver");
  }
  return kernel.make_plan(product, own);
}

std::vector<std::string> candidate_products(const SolveProblem& problem) {
  std::vector<std::string> names;
  if (problem.dense) {
    for (const DenseProductInfo& product : dense_products()) names.push_back(product.name);
    return names;
  }
  for (const SpmmKernel& kernel : kernels_for(problem)) {
    if (kernel.can(kGraphCapture | kDeterministic | kF64)) names.push_back(kernel.name);
  }
  return names;
}

}  // namespace csrkit::gpu

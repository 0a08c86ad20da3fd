#include "cpu/solve/products.h"

#include "cpu/common/kernels.h"
#include "cpu/solve/dense_products.h"

namespace csrkit::cpu {

namespace {

const KernelTable<Spmm>& sparse_kernels(const SolveProblem& problem) {
  return problem.right_hand_sides == 1 ? spmv_kernels() : spmm_kernels();
}

}  // namespace

std::unique_ptr<Operator> make_product(const SolveInput& input, ValueKind kind) {
  if (input.problem.dense) {
    return find_dense_product(input.product, input.problem.rows()).make(input, kind);
  }
  SpmmProblem product;
  product.a = input.problem.a;
  if (product.a.value_kind() != kind && product.a.value_kind() != ValueKind::none) {
    input.budget.reserve(product.a.size_bytes(), "A in another kind");
    product.a = convert_values(product.a, kind, input.threads);
  }
  product.dense_cols = input.problem.right_hand_sides;
  product.b = product.c = product.accumulate = kind;
  PlanOptions options;
  options.where.threads = input.threads;
  options.deterministic = input.deterministic;
  options.memory_limit_bytes = input.budget.limit_bytes() - input.budget.held_bytes();
  const std::string name = input.product.empty() ? "auto" : input.product;
  auto plan = find_kernel(sparse_kernels(input.problem), name).make_plan(product, options);
  input.budget.reserve(plan->phases().peak_bytes, "the product's own form of A");
  return plan;
}

bool joins_teams(const SolveInput& input) {
  if (input.problem.dense || input.problem.right_hand_sides != 1) return false;
  return input.product.empty() ||
         find_kernel(spmv_kernels(), input.product).role == Role::production;
}

std::vector<std::string> candidate_products(const SolveProblem& problem) {
  std::vector<std::string> names;
  if (problem.dense) {
    for (const DenseProduct& product : dense_products()) names.push_back(product.name);
    return names;
  }
  for (const SpmmKernel& kernel : sparse_kernels(problem)) {
    if (kernel.role != Role::vendor && kernel.can(kDeterministic)) names.push_back(kernel.name);
  }
  return names;
}

}  // namespace csrkit::cpu

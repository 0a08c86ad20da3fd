// The adapter between the contract of core/contract/sddmm.h and the kernels here. A kernel file
// offers one factory,
//
//   std::unique_ptr<SddmmMethod> make_<name>(const SddmmInput& input);
//
// and becomes a row of kernels.inc.
#pragma once

#include <memory>
#include <string>

#include "core/contract/sddmm.h"
#include "cpu/common/memory_budget.h"

namespace csrkit::cpu::sddmm {

/// What a kernel is made from. Everything but `budget` may be copied.
struct SddmmInput {
  const SddmmProblem& problem;
  int threads;  // at least 1
  MemoryBudget& budget;
};

/// The operands of one multiplication, on the host and of the right shapes and kinds.
struct SddmmCall {
  ConstDenseView x, y;
  ValuesView c;
  double alpha, beta;
};

/// A kernel with everything it derived from A.
class SddmmMethod {
 public:
  virtual ~SddmmMethod() = default;
  virtual void multiply(const SddmmCall& call) = 0;
  virtual std::string choice() const { return {}; }
  virtual std::string chosen_kernel() const { return {}; }  // as in Plan
};

using SddmmFactory = std::unique_ptr<SddmmMethod> (*)(const SddmmInput&);

/// The plan around a method. `capabilities` are those of the kernel's row.
std::unique_ptr<SddmmPlan> make_plan(const SddmmProblem& problem, const PlanOptions& options,
                                     Capabilities capabilities, SddmmFactory make_method);

/// Calls f(TypeTag<T>{}) with the type of X and Y.
template <class F>
auto with_dense_type(ValueKind kind, F&& f) {
  switch (kind) {
    case ValueKind::f64: return f(TypeTag<double>{});
    case ValueKind::f16: return f(TypeTag<f16>{});
    case ValueKind::bf16: return f(TypeTag<bf16>{});
    default: return f(TypeTag<float>{});
  }
}

/// The type of sums of products of T.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// C = alpha * S * dots + beta * C for entries [first, first + count), whose dots are given.
template <class Acc>
void finish(const SddmmProblem& problem, const SddmmCall& call, Offset first, Offset count,
            const Acc* dots);

}  // namespace csrkit::cpu::sddmm

#include "cpu/common/operator_plan.h"

#include "core/contract/takes_values.h"
#include "cpu/common/host_operands.h"
#include "cpu/common/host_plan.h"
#include "cpu/common/new_values.h"

namespace csrkit::cpu {

namespace {

class CpuSpmmPlan : public HostPlan<SpmmPlan>, public TakesValues {
 public:
  CpuSpmmPlan(const SpmmProblem& problem, const PlanOptions& options, Capabilities capabilities,
              AForm a_form, MethodFactory make_method)
      : HostPlan(options, capabilities,
                 problem.dense_cols > 1 ? "raise --memory-limit or use fewer --dense-cols"
                                        : "raise --memory-limit"),
        problem_(problem) {
    const Stopwatch clock;
    CsrMatrix op_a = problem_.a;
    if (problem_.transpose_a && a_form == AForm::by_rows) {
      op_a = transpose_within(budget_, op_a, "A", threads_);
    }
    method_ = make_method(MethodInput{problem_,
                                      std::move(op_a),
                                      {threads_, options.where.schedule, options.where.chunk},
                                      options.variant,
                                      budget_});
    analysis_seconds_ = clock.seconds();
  }

  OperatorShape shape() const override { return shape_of(problem_, MemorySpace::host); }

  void bind(ConstDenseView b, DenseView c) override {
    require_bindable(shape(), capabilities_, b, c);
    require_on_host({b.space, c.space});
    b_ = b;
    c_ = c;
    is_bound_ = true;
  }

  void multiply(double alpha, double beta) override {
    require_multipliable(problem_.semiring, capabilities_, problem_.accumulate, alpha, beta);
    require_bound();
    method_->multiply({b_, c_, alpha, beta});
  }

  void set_values(const void* values) override {
    require_replaceable_values(problem_);
    const CsrMatrix& a = problem_.a;
    const auto owner = std::make_shared<const CsrMatrix>(a);  // of offsets and columns
    const CsrMatrix with_values(a.rows(), a.cols(), a.row_offsets(), a.col_indices(),
                                a.value_kind(), values, owner);
    auto* const method = dynamic_cast<ReadsValuesInPlace*>(method_.get());
    if (method == nullptr) {
      throw UsageError(
          "this kernel keeps A's values in a form of its own; make a plan with one that reads A "
          "where it lies (nnz_balanced, or csr_balanced for one column), or a new plan");
    }
    method->take_values(with_values);
  }

  std::string choice() const override { return method_->choice(); }
  std::string chosen_kernel() const override { return method_->chosen_kernel(); }
  std::uint64_t stored_bytes() const override { return method_->stored_bytes(); }

 private:
  SpmmProblem problem_;
  std::unique_ptr<SpmmMethod> method_;
  ConstDenseView b_;
  DenseView c_;
};

}  // namespace

std::unique_ptr<SpmmPlan> make_cpu_plan(const SpmmProblem& problem, const PlanOptions& options,
                                        Capabilities capabilities, AForm a_form,
                                        MethodFactory make_method) {
  return std::make_unique<CpuSpmmPlan>(problem, options, capabilities, a_form, make_method);
}

}  // namespace csrkit::cpu

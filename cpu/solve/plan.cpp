#include "cpu/solve/plan.h"

#include <cstring>

#include "cpu/common/host_operands.h"
#include "cpu/common/host_plan.h"

namespace csrkit::cpu {

namespace {

void copy_rows(ConstDenseView from, DenseView to) {
  const auto element = static_cast<std::size_t>(size_of(from.kind));
  const std::size_t row_bytes = static_cast<std::size_t>(from.cols) * element;
  for (Index row = 0; row < from.rows; ++row) {
    std::memcpy(
        static_cast<char*>(to.data) + static_cast<std::size_t>(to.leading_dim * row) * element,
        static_cast<const char*>(from.data) +
            static_cast<std::size_t>(from.leading_dim * row) * element,
        row_bytes);
  }
}

bool has_gaps(const ConstDenseView& view) { return view.leading_dim > view.cols; }

class CpuSolver : public HostPlan<Solver> {
 public:
  CpuSolver(const SolveProblem& problem, const PlanOptions& options, Capabilities capabilities,
            std::unique_ptr<SolveMethod> (*make)(const SolveInput&))
      : HostPlan(options, capabilities, "raise --memory-limit or use a smaller system"),
        problem_(problem) {
    const Stopwatch clock;
    method_ = make(SolveInput{problem_, threads_, options.variant, budget_, options.deterministic});
    analysis_seconds_ = clock.seconds();
  }

  OperatorShape shape() const override { return shape_of(problem_, MemorySpace::host); }

  void bind(ConstDenseView b, DenseView x) override {
    require_bindable(shape(), capabilities_, b, x);
    require_on_host({b.space, x.space});
    b_ = b;
    x_ = x;
    is_bound_ = true;
  }

  void multiply(double alpha, double beta) override {
    require_multipliable(Semiring::plus_times, capabilities_, ValueKind::f64, alpha, beta);
    require_bound();
    if (!has_gaps(b_) && !has_gaps(x_)) {
      report_ = method_->solve(b_, x_);
      return;
    }
    DenseMatrix b(b_.rows, b_.cols, b_.kind), x(x_.rows, x_.cols, x_.kind);
    copy_rows(b_, b.view());
    if (problem_.has_guess) copy_rows(x_, x.view());
    report_ = method_->solve(std::as_const(b).view(), x.view());
    copy_rows(std::as_const(x).view(), x_);
  }

  const SolveReport& report() override { return report_; }
  std::string choice() const override { return method_->choice(); }

 private:
  SolveProblem problem_;
  std::unique_ptr<SolveMethod> method_;
  SolveReport report_;
  ConstDenseView b_;
  DenseView x_;
};

}  // namespace

std::unique_ptr<Solver> make_solver(const SolveProblem& problem, const PlanOptions& options,
                                    Capabilities capabilities,
                                    std::unique_ptr<SolveMethod> (*make)(const SolveInput&)) {
  return std::make_unique<CpuSolver>(problem, options, capabilities, make);
}

}  // namespace csrkit::cpu

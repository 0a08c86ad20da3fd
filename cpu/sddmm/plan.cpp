#include "cpu/sddmm/plan.h"

#include <cstring>

#include "cpu/common/host_operands.h"
#include "cpu/common/host_plan.h"
#include "cpu/common/operator_plan.h"

namespace csrkit::cpu::sddmm {

namespace {

class CpuSddmmPlan : public HostPlan<SddmmPlan> {
 public:
  CpuSddmmPlan(const SddmmProblem& problem, const PlanOptions& options, Capabilities capabilities,
               SddmmFactory make_method)
      : HostPlan(options, capabilities, "raise --memory-limit"), problem_(problem) {
    const Stopwatch clock;
    method_ = make_method({problem_, threads_, budget_});
    analysis_seconds_ = clock.seconds();
  }

  const SddmmProblem& problem() const override { return problem_; }
  MemorySpace space() const override { return MemorySpace::host; }

  void bind(ConstDenseView x, ConstDenseView y, ValuesView c) override {
    require_bindable(problem_, capabilities_, x, y, c);
    require_on_host({x.space, y.space, c.space});
    call_ = {x, y, c, 1, 0};
    is_bound_ = true;
  }

  void multiply(double alpha, double beta) override {
    require_multipliable(Semiring::plus_times, capabilities_, problem_.accumulate, alpha, beta);
    require_bound();
    call_.alpha = alpha;
    call_.beta = beta;
    method_->multiply(call_);
  }

  std::string choice() const override { return method_->choice(); }
  std::string chosen_kernel() const override { return method_->chosen_kernel(); }

 private:
  SddmmProblem problem_;
  std::unique_ptr<SddmmMethod> method_;
  SddmmCall call_{};
};

}  // namespace

std::unique_ptr<SddmmPlan> make_plan(const SddmmProblem& problem, const PlanOptions& options,
                                     Capabilities capabilities, SddmmFactory make_method) {
  return std::make_unique<CpuSddmmPlan>(problem, options, capabilities, make_method);
}

template <class Acc>
void finish(const SddmmProblem& problem, const SddmmCall& call, Offset first, Offset count,
            const Acc* dots) {
  const auto alpha = static_cast<Acc>(call.alpha), beta = static_cast<Acc>(call.beta);
  const bool reads_c = call.beta != 0;
  const bool has_factors = problem.multiplies_by_a && problem.a.value_kind() != ValueKind::none;
  const auto write = [&](auto* c) {
    using C = std::remove_pointer_t<decltype(c)>;
    if (!has_factors) {
      for (Offset n = 0; n < count; ++n) {
        Acc value = alpha * dots[n];
        if (reads_c) value += beta * load_as<Acc>(c[n]);
        c[n] = narrow_to(TypeTag<C>{}, value);
      }
      return;
    }
    problem.a.visit([&](auto a) {
      for (Offset n = 0; n < count; ++n) {
        Acc value = alpha * (a.template value_as<Acc>(first + n) * dots[n]);
        if (reads_c) value += beta * load_as<Acc>(c[n]);
        c[n] = narrow_to(TypeTag<C>{}, value);
      }
    });
  };
  if constexpr (std::is_same_v<Acc, double>) {
    write(static_cast<double*>(call.c.data) + first);
  } else if (call.c.kind == ValueKind::f16) {
    write(static_cast<f16*>(call.c.data) + first);
  } else if (call.c.kind == ValueKind::bf16) {
    write(static_cast<bf16*>(call.c.data) + first);
  } else {
    write(static_cast<float*>(call.c.data) + first);
  }
}

template void finish(const SddmmProblem&, const SddmmCall&, Offset, Offset, const float*);
template void finish(const SddmmProblem&, const SddmmCall&, Offset, Offset, const double*);

}  // namespace csrkit::cpu::sddmm

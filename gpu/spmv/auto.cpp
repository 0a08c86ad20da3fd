// auto: looks at the matrix on the device, asks choose.cpp, and is the chosen kernel from there on.

#include <utility>

#include "gpu/plan/operands.h"
#include "gpu/spmv/choose.h"
#include "gpu/spmv/plan.h"
#include "gpu/spmv/profile.h"

namespace csrkit::gpu {

namespace {

class Chosen final : public DeviceSpmv {
 public:
  explicit Chosen(const SpmmProblem& problem)
      : problem_(problem),
        vector_bytes_(dense_bytes(problem.input_rows(), 1, problem.b) +
                      dense_bytes(problem.output_rows(), 1, problem.c)) {}

  void convert(DeviceCsr a, DeviceMemory& memory) override {
    choice_ = choose(a, memory);
    kernel_ = make_device_spmv(choice_.kernel, problem_);
    kernel_->convert(std::move(a), memory);
  }
  void launch(const ConstDenseView& x, const DenseView& y, double alpha, double beta,
              cudaStream_t stream) override {
    kernel_->launch(x, y, alpha, beta, stream);
  }
  std::uint64_t stored_bytes() const override { return kernel_->stored_bytes(); }
  std::string choice() const override { return kernel_->choice(); }

  const SpmvChoice& chosen() const { return choice_; }

 private:
  SpmvChoice choose(const DeviceCsr& a, DeviceMemory& memory) const {
    try {
      return choose_spmv(
          profile_of(a, vector_bytes_, static_cast<int>(size_of(problem_.b)), memory));
    } catch (const MemoryError&) {
      return {"csr_balanced", "there is no room to look for other formats"};
    }
  }

  SpmmProblem problem_;
  std::uint64_t vector_bytes_;
  SpmvChoice choice_;
  std::unique_ptr<DeviceSpmv> kernel_;
};

}  // namespace

std::unique_ptr<SpmmPlan> make_spmv_plan_auto(const SpmmProblem& problem,
                                              const PlanOptions& options) {
  auto kernel = std::make_unique<Chosen>(problem);
  const Chosen& seen = *kernel;
  auto plan = std::make_unique<GpuSpmvPlan>(kSpmvProduction, problem, options, std::move(kernel));
  plan->note_choice(seen.chosen().kernel, seen.chosen().because, 0);
  return plan;
}

}  // namespace csrkit::gpu

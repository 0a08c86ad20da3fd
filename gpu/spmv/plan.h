// The plan of every SpMV kernel: the adapter between core/contract/spmm.h and DeviceSpmv.
#pragma once

#include <memory>
#include <string>

#include "gpu/plan/operator_plan.h"
#include "gpu/spmv/device_spmv.h"

namespace csrkit::gpu {

class GpuSpmvPlan final : public OperatorPlan {
 public:
  /// `capabilities` are those of the kernel's row in the table. If it is needed, A^T is made first,
  /// on the device if there is room. Transposition and conversion count as analysis.
  GpuSpmvPlan(Capabilities capabilities, const SpmmProblem& problem, const PlanOptions& options,
              std::unique_ptr<DeviceSpmv> kernel);
  ~GpuSpmvPlan() override;

  std::uint64_t stored_bytes() const override { return kernel_->stored_bytes(); }

 private:
  void launch(const ConstDenseView& x, const DenseView& y, double alpha, double beta) override;
  bool wants_trials(const ConstDenseView& x, const DenseView& y) const override;
  void run_trials(const ConstDenseView& x, const DenseView& scratch) override;
  std::string choice_of_kernel() const override;

  std::unique_ptr<DeviceSpmv> kernel_;
  std::uint64_t csr_bytes_ = 0;
  double conversion_seconds_ = 0;
};

}  // namespace csrkit::gpu

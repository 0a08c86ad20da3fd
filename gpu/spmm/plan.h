// The plan of every SpMM kernel: the adapter between core/contract/spmm.h and DeviceSpmm.
#pragma once

#include <memory>
#include <string>

#include "core/contract/spmm.h"
#include "gpu/plan/operator_plan.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

class GpuSpmmPlan final : public OperatorPlan {
 public:
  /// `capabilities` are those of the kernel's row in kernels.inc. If A is transposed and the kernel
  /// needs A^T, it is made first, on the device if there is room, and counted as analysis.
  GpuSpmmPlan(Capabilities capabilities, const SpmmProblem& problem, const PlanOptions& options,
              std::unique_ptr<DeviceSpmm> kernel);
  ~GpuSpmmPlan() override;

  SavedAnalysis save_analysis() override;

 private:
  DeviceCsrView<void> a() const;
  bool take_values(const void* values) override;
  void launch(const ConstDenseView& b, const DenseView& c, double alpha, double beta) override;
  bool wants_trials(const ConstDenseView& b, const DenseView& c) const override;
  void run_trials(const ConstDenseView& b, const DenseView& scratch) override;
  std::string choice_of_kernel() const override { return kernel_->choice(); }

  std::unique_ptr<DeviceSpmm> kernel_;
  DeviceCsr a_;
  DeviceBuffer<std::byte> workspace_;
  std::uint64_t analysis_bytes_ = 0;  // of the workspace
  SpmmSizes sizes_;
  const void* other_values_ = nullptr;  // null: those of a_
};

}  // namespace csrkit::gpu

// The plan of every GPU kernel: one adapter between the contract in core/contract/spmm.h and
// DeviceSpmm.
#pragma once

#include <memory>
#include <string>

#include "core/contract/spmm.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// Operands on the host have a twin on the device: B's is filled in bind, C's is filled before a
/// multiplication that reads C and brought back in fetch_output. Operands on the device are used in
/// place. Everything is queued in the caller's stream, if there is one.
class GpuSpmmPlan final : public SpmmPlan {
 public:
  /// `capabilities` are those of the kernel's row in the registry. For a transposed A and a kernel
  /// that does not transpose, A^T is made first, on the device if there is room, and counted as
  /// analysis.
  GpuSpmmPlan(Capabilities capabilities, const SpmmProblem& problem, const PlanOptions& options,
              std::unique_ptr<DeviceSpmm> kernel);
  ~GpuSpmmPlan() override;

  OperatorShape shape() const override { return shape_of(problem_, MemorySpace::device); }
  void bind(ConstDenseView b, DenseView c) override;
  void multiply(double alpha, double beta) override;
  void wait() override;
  double time_multiply(double alpha, double beta) override;
  void evict_caches() override;
  void fetch_output() override;
  Phases phases() const override;
  std::string choice() const override;
  std::string chosen_kernel() const override { return chosen_kernel_; }
  SavedAnalysis save_analysis() override;

  /// Says which kernel a chooser chose and why, and what choosing took.
  void note_choice(const std::string& kernel, const std::string& because, double seconds);

 private:
  struct State;
  void prepare_output(double alpha, double beta);
  void launch(double alpha, double beta);

  SpmmProblem problem_;
  Capabilities capabilities_;
  int device_;
  Phases phases_;
  std::string chosen_, chosen_kernel_;
  std::uint64_t analysis_bytes_ = 0;  // of the workspace
  std::unique_ptr<DeviceSpmm> kernel_;
  std::unique_ptr<State> state_;
};

}  // namespace csrkit::gpu

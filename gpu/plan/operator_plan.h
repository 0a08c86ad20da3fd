// What all plans with dense operands share on a device, whatever the kernel: operands, timing, and
// fetching the result.
#pragma once

#include <memory>
#include <string>

#include "core/contract/spmm.h"
#include "core/contract/takes_stream.h"
#include "core/contract/takes_values.h"
#include "gpu/device/device_csr.h"
#include "gpu/plan/operands.h"
#include "gpu/plan/resources.h"

namespace csrkit::gpu {

/// An operand on the host has a twin on the device. B's is filled by bind, C's before a
/// multiplication that reads C; fetch_output copies C's back. Operands on the device are used in
/// place. All work is queued in the caller's stream, if there is one.
class OperatorPlan : public Operator, public TakesStream, public TakesValues {
 public:
  ~OperatorPlan() override;

  OperatorShape shape() const final { return shape_of(problem_, MemorySpace::device); }
  void bind(ConstDenseView b, DenseView c) final;
  void multiply(double alpha, double beta) final;
  void wait() final;
  void use_stream(void* stream) final;
  void set_values(const void* values) final;
  double time_multiply(double alpha, double beta) final;
  void evict_caches() final;
  void fetch_output() final;
  Phases phases() const final;
  std::string choice() const final;
  std::string chosen_kernel() const final { return chosen_kernel_; }

  /// Records which kernel a chooser chose, why, and how long the choice took.
  void note_choice(const std::string& kernel, const std::string& because, double seconds);
  /// Records that the chosen kernel is one of another operation.
  void note_operation(const std::string& operation);

 protected:
  /// `capabilities` are those of the kernel's row in the table. Throws NoDeviceError.
  OperatorPlan(Capabilities capabilities, const SpmmProblem& problem, const PlanOptions& options);

  /// Returns A on the device, or A^T if `transposes`. The device transposes if it has room for that
  /// and for `workspace_bytes`, else the host does with `threads` threads. Throws MemoryError
  /// before it allocates if the result and the workspace do not fit. Adds its times to phases_.
  DeviceCsr bring_matrix(bool transposes, std::uint64_t workspace_bytes, int threads);

  /// For destructors of derived plans: they must free their device memory before this class frees
  /// its account. Errors are ignored: they mean that the device is gone, and its memory with it.
  template <class F>
  void on_device_without_errors(F&& f) noexcept {
    try {
      const DeviceScope scope(device_);
      if (resources_) resources_->stream.go_back();
      f();
    } catch (const Error&) {
    }
  }

  /// Queues C = alpha * op(A) * B + beta * C on operands in device memory.
  virtual void launch(const ConstDenseView& b, const DenseView& c, double alpha, double beta) = 0;

  /// Takes new values from device memory; returns false if this plan cannot.
  virtual bool take_values(const void* /*values*/) { return false; }

  /// For vendor kernels that decide after they have seen the operands; see DeviceSpmm::run_trials.
  virtual bool wants_trials(const ConstDenseView& /*b*/, const DenseView& /*c*/) const {
    return false;
  }
  virtual void run_trials(const ConstDenseView& /*b*/, const DenseView& /*scratch*/) {}

  /// The kernel's own part of choice().
  virtual std::string choice_of_kernel() const { return {}; }

  PlanResources& resources() { return *resources_; }

  SpmmProblem problem_;
  int device_;
  Phases phases_;

 private:
  void prepare_output(double alpha, double beta);
  void try_kernels(const DenseView& c, bool c_on_host);

  Capabilities capabilities_;
  std::string chosen_, chosen_kernel_;
  std::unique_ptr<PlanResources> resources_;
  DenseTwin b_twin_, c_twin_;
  bool is_bound_ = false;
  bool c_twin_is_current_ = false;  // holds what C is meant to hold
  DenseView host_c_;                // where fetch_output copies C, if that is on the host
  ConstDenseView b_;                // as the device sees them
  DenseView c_;
};

}  // namespace csrkit::gpu

// What the plans of all products with dense operands do alike on a device, whatever the kernel:
// operands, clock, and the way home of the result.
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

/// Operands on the host have a twin on the device: B's is filled in bind, C's is filled before a
/// multiplication that reads C and brought back in fetch_output. Operands on the device are used in
/// place. Everything is queued in the caller's stream, if there is one.
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

  /// Says which kernel a chooser chose and why, and what choosing took.
  void note_choice(const std::string& kernel, const std::string& because, double seconds);
  /// Says that what was chosen is a kernel of another operation.
  void note_operation(const std::string& operation);

 protected:
  /// `capabilities` are those of the kernel's row in the table. Throws NoDeviceError.
  OperatorPlan(Capabilities capabilities, const SpmmProblem& problem, const PlanOptions& options);

  /// A on the device; A^T with `transposes`, made there if there is room beside
  /// `workspace_bytes`, else on the host. Throws MemoryError before it allocates if A and the
  /// workspace do not fit. Adds to phases_.
  DeviceCsr bring_matrix(bool transposes, std::uint64_t workspace_bytes, int threads);

  /// For destructors of derived plans, whose memory on the device must go before this one's
  /// account: a failure means that the device is gone, and what the plan held there with it.
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

  /// Takes values that are on the device; false if this kind of plan cannot.
  virtual bool take_values(const void* /*values*/) { return false; }

  /// For a vendor that wants to see operands before it decides; see DeviceSpmm::run_trials.
  virtual bool wants_trials(const ConstDenseView& /*b*/, const DenseView& /*c*/) const {
    return false;
  }
  virtual void run_trials(const ConstDenseView& /*b*/, const DenseView& /*scratch*/) {}

  /// What the kernel itself says in choice().
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
  DenseView host_c_;                // where fetch_output brings C, if that is on the host
  ConstDenseView b_;                // as the device sees them
  DenseView c_;
};

}  // namespace csrkit::gpu

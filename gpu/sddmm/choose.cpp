// auto: picks a kernel; nowhere else in this room is it said which kernel is for what.
// Owns     the decision; the work is the chosen kernel's
// Needs    nothing
// Against  choosing by hand: one kernel is for all matrices here
#include "gpu/sddmm/plan.h"

namespace csrkit::gpu::sddmm {

std::unique_ptr<DeviceSddmm> make_device_row_groups(const SddmmProblem&);

namespace {

class Chosen final : public DeviceSddmm {
 public:
  explicit Chosen(const SddmmProblem& problem) : kernel_(make_device_row_groups(problem)) {}
  std::uint64_t workspace_bytes(const SddmmProblem& problem) const override {
    return kernel_->workspace_bytes(problem);
  }
  void analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream) override {
    kernel_->analyse(a, workspace, stream);
  }
  void launch(const DeviceCsrView<void>& a, const DeviceCall& call, const void* workspace,
              cudaStream_t stream) override {
    kernel_->launch(a, call, workspace, stream);
  }
  std::string choice() const override {
    return "row_groups (because equal pieces of entries suit rows of any length)";
  }
  std::string chosen_kernel() const override { return "row_groups"; }

 private:
  std::unique_ptr<DeviceSddmm> kernel_;
};

}  // namespace

std::unique_ptr<DeviceSddmm> make_device_auto(const SddmmProblem& problem) {
  return std::make_unique<Chosen>(problem);
}

}  // namespace csrkit::gpu::sddmm

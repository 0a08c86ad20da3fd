#include "gpu/plan/kernels.h"
#include "gpu/spgemm/plan.h"

namespace csrkit::gpu {

// A kernel's file offers a DeviceSpgemm; the plan around it is the same for all. A chooser makes
// its plan from another row of the table.
#define CSRKIT_CHOOSER(name, role, can, summary) \
  std::unique_ptr<SpgemmPlan> make_##name(const SpgemmProblem&, const PlanOptions&);
#define CSRKIT_KERNEL(name, role, can, summary)                                \
  std::unique_ptr<DeviceSpgemm> make_device_##name(const SpgemmProblem&);      \
  static std::unique_ptr<SpgemmPlan> make_##name(const SpgemmProblem& problem, \
                                                 const PlanOptions& options) { \
    return std::make_unique<GpuSpgemmPlan>(#name, can, problem, options,       \
                                           make_device_##name(problem));       \
  }
#include "gpu/spgemm/kernels.inc"
#undef CSRKIT_KERNEL
#undef CSRKIT_CHOOSER

const std::vector<SpgemmKernel>& spgemm_kernels() {
#define CSRKIT_CHOOSER CSRKIT_KERNEL
#define CSRKIT_KERNEL(name, role, can, summary) {{#name, role, can, summary}, make_##name},
  static const std::vector<SpgemmKernel> table = {
#include "gpu/spgemm/kernels.inc"
  };
#undef CSRKIT_KERNEL
#undef CSRKIT_CHOOSER
  return table;
}

std::unique_ptr<DeviceSpgemm> make_device_spgemm(const std::string& name,
                                                 const SpgemmProblem& problem) {
#define CSRKIT_CHOOSER(row, role, can, summary)
#define CSRKIT_KERNEL(row, role, can, summary) \
  if (name == #row) return make_device_##row(problem);
#include "gpu/spgemm/kernels.inc"
#undef CSRKIT_KERNEL
#undef CSRKIT_CHOOSER
  throw UsageError("there is no kernel '" + name + "' that works on the device");
}

}  // namespace csrkit::gpu

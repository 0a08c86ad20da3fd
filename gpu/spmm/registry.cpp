#include "gpu/plan/kernels.h"
#include "gpu/spmm/plan.h"

namespace csrkit::gpu {

// A kernel's file offers a DeviceSpmm; the plan around it is the same for all. A chooser makes its
// plan from another row of the table.
#define CSRKIT_CHOOSER(name, role, can, summary) \
  std::unique_ptr<SpmmPlan> make_##name(const SpmmProblem&, const PlanOptions&);
#define CSRKIT_KERNEL(name, role, can, summary)                                               \
  std::unique_ptr<DeviceSpmm> make_device_##name(const SpmmProblem&);                         \
  static std::unique_ptr<SpmmPlan> make_##name(const SpmmProblem& problem,                    \
                                               const PlanOptions& options) {                  \
    return std::make_unique<GpuSpmmPlan>(can, problem, options, make_device_##name(problem)); \
  }
#include "gpu/spmm/kernels.inc"
#include "gpu/spmm/marks.inc"
#undef CSRKIT_KERNEL
#undef CSRKIT_CHOOSER

/// A chooser takes variants that say more of the operands (choose.h); they are nothing to try.
static std::vector<std::string> nothing_to_try(const SpmmProblem&) { return {""}; }

#define CSRKIT_CHOOSER(name, role, can, summary) \
  {{#name, role, can, summary}, make_##name, nothing_to_try},
#define CSRKIT_KERNEL(name, role, can, summary) {{#name, role, can, summary}, make_##name},
const std::vector<SpmmKernel>& spmm_kernels() {
  static const std::vector<SpmmKernel> table = {
#include "gpu/spmm/kernels.inc"
  };
  return table;
}

const std::vector<SpmmKernel>& spmm_marks() {
  static const std::vector<SpmmKernel> table = {
#include "gpu/spmm/marks.inc"
  };
  return table;
}
#undef CSRKIT_KERNEL
#undef CSRKIT_CHOOSER

std::unique_ptr<DeviceSpmm> make_device_spmm(const std::string& name, const SpmmProblem& problem) {
  require_capabilities(find_kernel(spmm_kernels(), name).capabilities, needed_for(problem), name);
#define CSRKIT_CHOOSER(row, role, can, summary)
#define CSRKIT_KERNEL(row, role, can, summary) \
  if (name == #row) return make_device_##row(problem);
#include "gpu/spmm/kernels.inc"
#undef CSRKIT_KERNEL
#undef CSRKIT_CHOOSER
  throw UsageError("there is no kernel '" + name + "' that works on the device");
}

}  // namespace csrkit::gpu

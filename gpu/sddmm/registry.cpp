#include "gpu/plan/kernels.h"
#include "gpu/sddmm/plan.h"

namespace csrkit::gpu {

namespace sddmm {
#define CSRKIT_KERNEL(name, role, can, summary) \
  std::unique_ptr<DeviceSddmm> make_device_##name(const SddmmProblem&);
#include "gpu/sddmm/kernels.inc"
#undef CSRKIT_KERNEL
}  // namespace sddmm

#define CSRKIT_KERNEL(name, role, can, summary)                                               \
  {{#name, role, can, summary}, [](const SddmmProblem& problem, const PlanOptions& options) { \
     return sddmm::make_plan(problem, options, can, &sddmm::make_device_##name);              \
   }},

const KernelTable<Sddmm>& sddmm_kernels() {
  static const KernelTable<Sddmm> table = {
#include "gpu/sddmm/kernels.inc"
  };
  return table;
}
#undef CSRKIT_KERNEL

}  // namespace csrkit::gpu

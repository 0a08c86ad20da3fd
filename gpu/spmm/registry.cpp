#include "gpu/spmm/registry.h"

namespace csrkit::gpu {

#define CSRKIT_KERNEL(name, role, can, summary) \
  std::unique_ptr<SpmmPlan> make_##name(const SpmmProblem&, const PlanOptions&);
#include "gpu/spmm/kernels.inc"
#undef CSRKIT_KERNEL

const std::vector<SpmmKernel>& spmm_kernels() {
  static const std::vector<SpmmKernel> table = {
#define CSRKIT_KERNEL(name, role, can, summary) {#name, role, can, summary, make_##name},
#include "gpu/spmm/kernels.inc"
#undef CSRKIT_KERNEL
  };
  return table;
}

}  // namespace csrkit::gpu

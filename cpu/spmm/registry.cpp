#include "cpu/spmm/registry.h"

#include "cpu/spmm/plan.h"

namespace csrkit::cpu {

#define CSRKIT_KERNEL(name, role, can, summary) \
  std::unique_ptr<SpmmMethod> make_##name(const MethodInput&);
#include "cpu/spmm/kernels.inc"
#undef CSRKIT_KERNEL

const std::vector<SpmmKernel>& spmm_kernels() {
  static const std::vector<SpmmKernel> table = {
#define CSRKIT_KERNEL(name, role, can, summary)                                            \
  {#name, role, can, summary, [](const SpmmProblem& problem, const PlanOptions& options) { \
     return make_cpu_plan(problem, options, can, &make_##name);                            \
   }},
#include "cpu/spmm/kernels.inc"
#undef CSRKIT_KERNEL
  };
  return table;
}

}  // namespace csrkit::cpu

#include "cpu/spgemm/registry.h"

#include "cpu/spgemm/plan.h"

namespace csrkit::cpu {

#define CSRKIT_KERNEL(name, role, can, summary) \
  std::unique_ptr<SpgemmMethod> make_spgemm_##name(const SpgemmInput&);
#include "cpu/spgemm/kernels.inc"
#undef CSRKIT_KERNEL

const std::vector<SpgemmKernel>& spgemm_kernels() {
  static const std::vector<SpgemmKernel> table = {
#define CSRKIT_KERNEL(name, role, can, summary)                                              \
  {#name, role, can, summary, [](const SpgemmProblem& problem, const PlanOptions& options) { \
     return make_cpu_spgemm_plan(problem, options, &make_spgemm_##name);                     \
   }},
#include "cpu/spgemm/kernels.inc"
#undef CSRKIT_KERNEL
  };
  return table;
}

}  // namespace csrkit::cpu

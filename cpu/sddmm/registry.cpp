#include "cpu/common/kernels.h"
#include "cpu/sddmm/plan.h"

namespace csrkit::cpu {

namespace sddmm {
#define CSRKIT_KERNEL(name, role, can, summary) \
  std::unique_ptr<SddmmMethod> make_##name(const SddmmInput&);
#include "cpu/sddmm/kernels.inc"
#undef CSRKIT_KERNEL
}  // namespace sddmm

#define CSRKIT_KERNEL(name, role, can, summary)                                               \
  {{#name, role, can, summary}, [](const SddmmProblem& problem, const PlanOptions& options) { \
     return sddmm::make_plan(problem, options, can, &sddmm::make_##name);                     \
   }},

const KernelTable<Sddmm>& sddmm_kernels() {
  static const KernelTable<Sddmm> table = {
#include "cpu/sddmm/kernels.inc"
  };
  return table;
}
#undef CSRKIT_KERNEL

}  // namespace csrkit::cpu

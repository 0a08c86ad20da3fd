#include "cpu/common/kernels.h"
#include "cpu/spgemm/plan.h"
#include "cpu/spgemm/vendor/vendor.h"

namespace csrkit::cpu {

#define CSRKIT_KERNEL(name, role, can, summary) \
  std::unique_ptr<SpgemmMethod> make_spgemm_##name(const SpgemmInput&);
#define CSRKIT_VENDOR(name, can, summary) \
  std::unique_ptr<VendorProduct> make_spgemm_##name(const VendorOperands&);
#include "cpu/spgemm/kernels.inc"
#undef CSRKIT_KERNEL
#undef CSRKIT_VENDOR

const std::vector<SpgemmKernel>& spgemm_kernels() {
  static const std::vector<SpgemmKernel> table = {
#define CSRKIT_KERNEL(name, role, can, summary)                                                \
  {{#name, role, can, summary}, [](const SpgemmProblem& problem, const PlanOptions& options) { \
     return make_cpu_spgemm_plan(problem, options, &make_spgemm_##name);                       \
   }},
#define CSRKIT_VENDOR(name, can, summary)                                   \
  {{#name, Role::vendor, can, summary},                                     \
   [](const SpgemmProblem& problem, const PlanOptions& options) {           \
     return make_vendor_spgemm_plan(problem, options, &make_spgemm_##name); \
   }},
#include "cpu/spgemm/kernels.inc"
#undef CSRKIT_KERNEL
#undef CSRKIT_VENDOR
  };
  return table;
}

}  // namespace csrkit::cpu

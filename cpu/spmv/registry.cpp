#include "cpu/common/kernels.h"
#include "cpu/common/operator_plan.h"

namespace csrkit::cpu {

namespace spmv {
#define CSRKIT_KERNEL(name, role, can, summary) \
  std::unique_ptr<SpmmMethod> make_##name(const MethodInput&);
#include "cpu/spmv/kernels.inc"
#undef CSRKIT_KERNEL

std::unique_ptr<SpmmMethod> make_reference(const MethodInput& input) {
  return cpu::make_reference(input);
}
}  // namespace spmv

#define CSRKIT_KERNEL(name, role, can, summary)                                              \
  {{#name, role, can, summary}, [](const SpmmProblem& problem, const PlanOptions& options) { \
     return make_cpu_plan(problem, options, can, AForm::by_rows, &spmv::make_##name);        \
   }},

const KernelTable<Spmm>& spmv_kernels() {
  static const KernelTable<Spmm> table = {
#include "cpu/spmv/kernels.inc"
  };
  return table;
}
#undef CSRKIT_KERNEL

}  // namespace csrkit::cpu

#include "cpu/common/kernels.h"
#include "cpu/common/operator_plan.h"
#include "cpu/spmm/choose_settings.h"

namespace csrkit::cpu {

#define CSRKIT_KERNEL(name, role, can, a_form, variants, summary) \
  std::unique_ptr<SpmmMethod> make_##name(const MethodInput&);
#include "cpu/spmm/kernels.inc"
#include "cpu/spmm/marks.inc"
#undef CSRKIT_KERNEL

#define CSRKIT_KERNEL(name, role, can, a_form, variants, summary)              \
  {{#name, role, can, summary},                                                \
   [](const SpmmProblem& problem, const PlanOptions& options) {                \
     return make_cpu_plan(problem, options, can, AForm::a_form, &make_##name); \
   },                                                                          \
   variants},

const std::vector<SpmmKernel>& spmm_kernels() {
  static const std::vector<SpmmKernel> table = {
#include "cpu/spmm/kernels.inc"
  };
  return table;
}

const std::vector<SpmmKernel>& spmm_marks() {
  static const std::vector<SpmmKernel> table = {
#include "cpu/spmm/marks.inc"
  };
  return table;
}
#undef CSRKIT_KERNEL

}  // namespace csrkit::cpu

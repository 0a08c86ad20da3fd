#include "cpu/spmm/registry.h"

#include "cpu/spmm/plan.h"
#include "cpu/spmm/settings.h"

namespace csrkit::cpu {

#define CSRKIT_KERNEL(name, role, can, summary) \
  std::unique_ptr<SpmmMethod> make_##name(const MethodInput&);
#include "cpu/spmm/kernels.inc"
#include "cpu/spmm/marks.inc"
#undef CSRKIT_KERNEL

namespace {

/// The settings of a kernel that has some.
std::vector<std::string> (*variants_of(const std::string& name))(const SpmmProblem&) {
  return name == "nnz_balanced" ? &candidate_settings : nullptr;
}

/// Whether a kernel deals with problem.transpose_a itself.
bool takes_a_as_stored(const std::string& name) {
  return name == "auto" || name == "column_ranges";
}

}  // namespace

#define CSRKIT_KERNEL(name, role, can, summary)                                           \
  {#name,                                                                                 \
   role,                                                                                  \
   can,                                                                                   \
   summary,                                                                               \
   [](const SpmmProblem& problem, const PlanOptions& options) {                           \
     return make_cpu_plan(problem, options, can, takes_a_as_stored(#name), &make_##name); \
   },                                                                                     \
   variants_of(#name)},

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

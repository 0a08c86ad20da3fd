#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmv/plan.h"

namespace csrkit::gpu {

// A kernel's file offers a DeviceSpmv; the plan around it is the same for all. A chooser makes its
// plan from another row of the table.
#define CSRKIT_CHOOSER(name, role, can, summary) \
  std::unique_ptr<SpmmPlan> make_spmv_plan_##name(const SpmmProblem&, const PlanOptions&);
#define CSRKIT_KERNEL(name, role, can, summary)                                             \
  std::unique_ptr<DeviceSpmv> make_spmv_##name(const SpmmProblem&);                         \
  static std::unique_ptr<SpmmPlan> make_spmv_plan_##name(const SpmmProblem& problem,        \
                                                         const PlanOptions& options) {      \
    return std::make_unique<GpuSpmvPlan>(can, problem, options, make_spmv_##name(problem)); \
  }
#include "gpu/spmv/kernels.inc"
#undef CSRKIT_KERNEL
#undef CSRKIT_CHOOSER

#define CSRKIT_CHOOSER CSRKIT_KERNEL
#define CSRKIT_KERNEL(name, role, can, summary) \
  {{#name, role, can, summary}, make_spmv_plan_##name},
const std::vector<SpmmKernel>& spmv_kernels() {
  static const std::vector<SpmmKernel> table = {
#include "gpu/spmv/kernels.inc"
  };
  return table;
}
#undef CSRKIT_KERNEL
#undef CSRKIT_CHOOSER

std::unique_ptr<DeviceSpmv> make_device_spmv(const std::string& name, const SpmmProblem& problem) {
  require_capabilities(find_kernel(spmv_kernels(), name).capabilities, needed_for(problem), name);
#define CSRKIT_CHOOSER(row, role, can, summary)
#define CSRKIT_KERNEL(row, role, can, summary) \
  if (name == #row) return make_spmv_##row(problem);
#include "gpu/spmv/kernels.inc"
#undef CSRKIT_KERNEL
#undef CSRKIT_CHOOSER
  throw UsageError("there is no kernel '" + name + "' that works on the device");
}

std::uint64_t csr_bytes_of(const DeviceCsr& a) {
  const DeviceCsrView<void> view = a.view<void>();
  const std::uint64_t offset_bytes =
      view.row_offsets.narrow != nullptr ? sizeof(std::uint32_t) : sizeof(Offset);
  return (static_cast<std::uint64_t>(a.rows()) + 1) * offset_bytes +
         static_cast<std::uint64_t>(a.nnz()) *
             (sizeof(Index) + static_cast<std::uint64_t>(size_of(a.value_kind())));
}

void require_worthwhile(const char* format, std::uint64_t needed, std::uint64_t csr_bytes) {
  constexpr std::uint64_t kTimes = 16, kAlways = 256 << 20;
  const std::uint64_t most = csr_bytes * kTimes > kAlways ? csr_bytes * kTimes : kAlways;
  if (needed <= most) return;
  throw MemoryError(std::string(format) + " needs " + counted(needed, "byte") +
                    " of device memory for a matrix that takes " + std::to_string(csr_bytes) +
                    " as CSR; the limit is 16 times that. Its rows are too unlike for this format: "
                    "use auto or csr_balanced");
}

void require_short_rows(const char* format, Offset steps, std::uint64_t csr_bytes) {
  // Of an H200: a step is a column and then x; CSR comes at the copy bandwidth.
  constexpr double kStepMicroseconds = 0.5, kBytesPerMicrosecond = 4.3e6;
  constexpr double kTimes = 16, kAlways = 1000;
  const double needed = kStepMicroseconds * static_cast<double>(steps);
  const double csr = static_cast<double>(csr_bytes) / kBytesPerMicrosecond;
  if (needed <= std::max(kTimes * csr, kAlways)) return;
  throw UsageError(std::string(format) + " needs about " +
                   std::to_string(static_cast<Offset>(needed)) +
                   " us for the longest row, which one lane adds up, where A as CSR is read in " +
                   std::to_string(static_cast<Offset>(csr) + 1) + " us; use auto or jagged");
}

}  // namespace csrkit::gpu

#include "gpu/spmm/forecast.h"

#include <algorithm>
#include <utility>

#include "gpu/plan/kernels.h"
#include "gpu/plan/operands.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

std::uint64_t forecast_spmm_bytes(const std::string& kernel, const SpmmProblem& problem) {
  const std::string name = kernel == "auto" ? auto_spmm_kernel(problem) : kernel;
  const std::string spmv = "spmv.";
  if (name.rfind(spmv, 0) == 0) return forecast_spmv_bytes(name.substr(spmv.size()), problem);
  if (find_kernel(spmm_kernels(), name).role == Role::vendor) {
    throw UsageError(name + ": a vendor's memory shows only while it works, so it has no forecast");
  }
  const auto device_kernel = make_device_spmm(name, problem);
  SpmmSizes sizes = {problem.a.rows(), problem.a.cols(), problem.a.nnz(), problem.dense_cols};
  const ValueKind kind = problem.a.value_kind();
  const bool is_there = problem.a.space() == MemorySpace::device;
  const bool transposes_a = problem.transpose_a && !device_kernel->transposes();
  std::uint64_t while_sorting = 0;
  if (transposes_a) {
    std::swap(sizes.rows, sizes.cols);
    // A, A^T and the sort are there before anything else.
    if (DeviceCsr::can_transpose(sizes.nnz)) {
      while_sorting = (is_there ? 0 : DeviceCsr::forecast_bytes(sizes.cols, sizes.nnz, kind)) +
                      DeviceCsr::transpose_bytes(sizes.rows, sizes.nnz, kind);
    }
  }
  const std::uint64_t a_bytes =
      is_there && !transposes_a ? 0 : DeviceCsr::forecast_bytes(sizes.rows, sizes.nnz, kind);
  return std::max(while_sorting,
                  a_bytes + device_kernel->workspace_bytes(sizes) +
                      dense_bytes(problem.input_rows(), problem.dense_cols, problem.b) +
                      dense_bytes(problem.output_rows(), problem.dense_cols, problem.c));
}

}  // namespace csrkit::gpu

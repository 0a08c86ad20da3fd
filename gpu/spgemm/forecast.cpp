#include "gpu/spgemm/forecast.h"

#include <algorithm>
#include <vector>

#include "core/base/counted.h"
#include "core/facts/matrix_stats.h"
#include "gpu/plan/kernels.h"
#include "gpu/spgemm/device_spgemm.h"
#include "gpu/spgemm/filter_product.h"

namespace csrkit::gpu {

std::uint64_t device_operand_bytes(const SpgemmProblem& problem) {
  const auto bytes_of = [](Index rows, const CsrMatrix& matrix, ValueKind kind) {
    return DeviceCsr::forecast_bytes(
        rows, matrix.nnz(), matrix.value_kind() == ValueKind::none ? ValueKind::none : kind);
  };
  const CsrMatrix &a = problem.a, &b = problem.b;
  const Index b_rows = problem.transpose_b ? b.cols() : b.rows();
  return bytes_of(a.rows(), a, problem.c) +
         (shares_operand(problem) ? 0 : bytes_of(b_rows, b, problem.c)) +
         (problem.mask ? bytes_of(problem.mask->rows(), *problem.mask, ValueKind::none) : 0);
}

std::uint64_t product_forecast_bytes(const DeviceSpgemm& kernel, const SpgemmProblem& problem,
                                     const SpgemmSizes& sizes) {
  return kernel.forecast_bytes(sizes) + filter_forecast_bytes(problem, sizes);
}

SpgemmForecast forecast_whole(const DeviceSpgemm& kernel, const SpgemmProblem& problem,
                              const SpgemmSizes& sizes, std::uint64_t operand_bytes) {
  const Offset bound = sizes.counts.output_bound;
  SpgemmForecast forecast;
  forecast.products = static_cast<double>(sizes.counts.products);
  forecast.output_nnz_bound = problem.mask ? std::min(bound, problem.mask->nnz()) : bound;
  forecast.output_bytes_bound =
      csr_bytes(problem.output_rows(), forecast.output_nnz_bound, problem.c);
  forecast.whole_bytes = forecast.peak_bytes =
      operand_bytes + product_forecast_bytes(kernel, problem, sizes);
  return forecast;
}

SpgemmForecast forecast_spgemm(const std::string& kernel, const SpgemmProblem& problem,
                               Offset output_nnz, std::uint64_t limit_bytes) {
  const std::string name = kernel == "auto" ? auto_spgemm_kernel(problem) : kernel;
  if (find_kernel(spgemm_kernels(), name).role == Role::vendor) {
    throw UsageError(name + ": a vendor's memory shows only while it works, so it has no forecast");
  }
  const auto device_kernel = make_device_spgemm(name, problem);
  const CsrMatrix op_b = problem.transpose_b ? transpose(problem.b) : problem.b;
  std::vector<Offset> row_products(static_cast<std::size_t>(problem.a.rows()));
  SpgemmSizes sizes = {problem.a.rows(), problem.a.cols(), op_b.cols(),
                       problem.a.nnz(),  op_b.nnz(),       {}};
  spgemm_products(problem.a, op_b, row_products.data());
  for (Index row = 0; row < problem.a.rows(); ++row) {
    sizes.counts.add_row(problem.a.row_offsets()[row + 1] - problem.a.row_offsets()[row],
                         row_products[static_cast<std::size_t>(row)], op_b.cols());
  }
  if (output_nnz >= 0) sizes.counts.output_bound = output_nnz;

  const std::uint64_t operands = device_operand_bytes(problem);
  SpgemmForecast forecast = forecast_whole(*device_kernel, problem, sizes, operands);
  if (limit_bytes == 0 || forecast.whole_bytes <= limit_bytes) return forecast;
  if (operands > limit_bytes) {
    throw MemoryError("no room for the operands (" + counted(operands, "byte") +
                      " of device memory): the limit is " + counted(limit_bytes, "byte") +
                      "; use another GPU or a narrower --value-kind");
  }
  forecast.peak_bytes = limit_bytes;
  return forecast;
}

}  // namespace csrkit::gpu

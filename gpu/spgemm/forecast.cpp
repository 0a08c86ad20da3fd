#include "gpu/spgemm/forecast.h"

#include <algorithm>
#include <vector>

#include "core/base/counted.h"
#include "core/facts/matrix_stats.h"
#include "gpu/plan/kernels.h"
#include "gpu/spgemm/device_spgemm.h"
#include "gpu/spgemm/filter_product.h"

namespace csrkit::gpu {

namespace {

/// As the plan uploads it: 16-bit values are widened.
std::uint64_t device_bytes(const CsrMatrix& matrix, ValueKind widened) {
  return DeviceCsr::forecast_bytes(
      matrix.rows(), matrix.nnz(),
      matrix.value_kind() == ValueKind::none ? ValueKind::none : widened);
}

}  // namespace

SpgemmForecast forecast_spgemm(const std::string& kernel, const SpgemmProblem& problem,
                               Offset output_nnz, std::uint64_t limit_bytes) {
  const std::string name = kernel == "auto" ? auto_spgemm_kernel(problem) : kernel;
  if (find_kernel(spgemm_kernels(), name).role == Role::vendor) {
    throw UsageError(name + ": a vendor's memory shows only while it works, so it has no forecast");
  }
  const auto device_kernel = make_device_spgemm(name, problem);
  const CsrMatrix op_b = problem.transpose_b ? transpose(problem.b) : problem.b;
  const bool shares_b = problem.b_is_a() && !problem.transpose_b;
  std::vector<Offset> row_products(static_cast<std::size_t>(problem.a.rows()));
  SpgemmSizes sizes = {problem.a.rows(), problem.a.cols(), op_b.cols(),
                       problem.a.nnz(),  op_b.nnz(),       {}};
  spgemm_products(problem.a, op_b, row_products.data());
  for (Index row = 0; row < problem.a.rows(); ++row) {
    sizes.counts.add_row(problem.a.row_offsets()[row + 1] - problem.a.row_offsets()[row],
                         row_products[static_cast<std::size_t>(row)], op_b.cols());
  }
  if (output_nnz >= 0) sizes.counts.output_bound = output_nnz;
  Offset bound = sizes.counts.output_bound;
  if (problem.mask) bound = std::min(bound, problem.mask->nnz());

  const std::uint64_t operands = device_bytes(problem.a, problem.c) +
                                 (shares_b ? 0 : device_bytes(op_b, problem.c)) +
                                 (problem.mask ? device_bytes(*problem.mask, ValueKind::none) : 0);
  const bool is_filtered = problem.mask.has_value() || problem.drop_below > 0;
  SpgemmForecast forecast;
  forecast.products = static_cast<double>(sizes.counts.products);
  forecast.output_nnz_bound = bound;
  forecast.output_bytes_bound = csr_bytes(problem.output_rows(), bound, problem.c);
  forecast.whole_bytes = operands + device_kernel->forecast_bytes(sizes) +
                         (is_filtered ? filter_forecast_bytes(sizes, problem.c) : 0);
  forecast.peak_bytes = forecast.whole_bytes;
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

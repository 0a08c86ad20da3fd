// How much device memory a sparse product will take: the forecast of its plan, and the same
// forecast before there is a device.
#pragma once

#include <cstdint>
#include <string>

#include "core/contract/spgemm.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Whether A and op(B) are the same arrays, which are on the device once then.
inline bool shares_operand(const SpgemmProblem& problem) {
  return problem.b_is_a() && !problem.transpose_b;
}

/// An upper bound of the device bytes that A, op(B) unless it is A, and the mask take while they
/// are uploaded. Values of 16 bits are widened.
std::uint64_t device_operand_bytes(const SpgemmProblem& problem);

/// An upper bound of the bytes that a product of those sizes holds at once beside the operands.
std::uint64_t product_forecast_bytes(const DeviceSpgemm& kernel, const SpgemmProblem& problem,
                                     const SpgemmSizes& sizes);

/// The forecast of a product that is not cut into ranges of rows, beside operands of
/// `operand_bytes`.
SpgemmForecast forecast_whole(const DeviceSpgemm& kernel, const SpgemmProblem& problem,
                              const SpgemmSizes& sizes, std::uint64_t operand_bytes);

/// What GpuSpgemmPlan says of the same problem, counted on the host: products, the size of C, and
/// the most bytes of device memory. `output_nnz`, if not negative, is the number of entries of C,
/// where it is known; it takes the place of the bound. A positive `limit_bytes` (of --memory-limit,
/// or what the device has) caps the peak: beyond it C is made in blocks of rows. Needs no GPU.
/// Throws UsageError as forecast_spmm_bytes does, MemoryError if not even the operands are within
/// the limit.
SpgemmForecast forecast_spgemm(const std::string& kernel, const SpgemmProblem& problem,
                               Offset output_nnz, std::uint64_t limit_bytes);

}  // namespace csrkit::gpu

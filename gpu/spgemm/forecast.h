// How much device memory a sparse product will take, known before there is a device.
#pragma once

#include <cstdint>
#include <string>

#include "core/contract/spgemm.h"

namespace csrkit::gpu {

/// What GpuSpgemmPlan says of the same problem, counted on the host: products, the size of C, and
/// the most bytes of device memory. `output_nnz`, if not negative, is the number of entries of C,
/// where it is known; it takes the place of the bound. A positive `limit_bytes` (of --memory-limit,
/// or what the device has) caps the peak: beyond it C is made in blocks of rows. Needs no GPU.
/// Throws UsageError as forecast_spmm_bytes does, MemoryError if not even the operands are within
/// the limit.
SpgemmForecast forecast_spgemm(const std::string& kernel, const SpgemmProblem& problem,
                               Offset output_nnz, std::uint64_t limit_bytes);

}  // namespace csrkit::gpu

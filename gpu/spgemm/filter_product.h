// Masks and --drop-below, for every kernel: applied to C after it is made.
#pragma once

#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Whether the problem leaves entries of C out.
inline bool is_filtered(const SpgemmProblem& problem) {
  return problem.mask.has_value() || problem.drop_below > 0;
}

/// Returns the entries of `c` that are in `mask` (null: all) and for which |value| < drop_below is
/// false (0: all; NaNs stay). Waits for their number.
DeviceProduct filtered_product(const DeviceProduct& c, const DeviceCsrView<void>* mask,
                               double drop_below, DeviceMemory& memory);

/// An upper bound of the bytes that it holds at once beside `c`; 0 if C is not filtered. Needs no
/// GPU.
std::uint64_t filter_forecast_bytes(const SpgemmProblem& problem, const SpgemmSizes& sizes);

}  // namespace csrkit::gpu

// adaptive_rows with other rules than the device's: for tests, which want every bin filled by small
// matrices, and for measuring what one kind of bin is worth.
#pragma once

#include <memory>

#include "gpu/spgemm/adaptive_rows/rules.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Obeys `shrink` and the preferences of `rules`; what depends on the device is found out.
std::unique_ptr<DeviceSpgemm> make_adaptive_rows(const SpgemmProblem& problem,
                                                 const BinRules& rules);

}  // namespace csrkit::gpu

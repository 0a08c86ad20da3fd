// row_bins with other rules than the device's: for tests, which want every bin filled by small
// matrices, and for measuring what one kind of bin is worth.
#pragma once

#include <memory>

#include "gpu/spgemm/device_spgemm.h"
#include "gpu/spgemm/row_bins_rules.h"

namespace csrkit::gpu {

/// Obeys `shrink` and the preferences of `rules`; what depends on the device is found out.
std::unique_ptr<DeviceSpgemm> make_row_bins(const SpgemmProblem& problem, const BinRules& rules);

}  // namespace csrkit::gpu

// adaptive_rows with rules of the caller: for tests, which fill every bin with small matrices, and
// for measuring the worth of one kind of bin.
#pragma once

#include <memory>

#include "gpu/spgemm/adaptive_rows/rules/rules.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Limits in `rules` that depend on the device (shared memory) are lowered to the device's.
std::unique_ptr<DeviceSpgemm> make_adaptive_rows(const SpgemmProblem& problem,
                                                 const BinRules& rules);

}  // namespace csrkit::gpu

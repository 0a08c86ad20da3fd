// How much device memory a multiplication will take, known before there is a device.
#pragma once

#include <cstdint>
#include <string>

#include "core/contract/spmm.h"

namespace csrkit::gpu {

/// Most bytes that a plan of the kernel called `kernel` and the device's copies of B and C will
/// hold, for operands on the host; of `auto`, those of the kernel that it would pick. Never below
/// Phases::peak_bytes. Needs no GPU. Throws UsageError for names that are not in the registry, for
/// a transposed or other problem that the kernel cannot do, and for a vendor's kernel: what its
/// library takes shows only while it works.
std::uint64_t forecast_spmm_bytes(const std::string& kernel, const SpmmProblem& problem);

}  // namespace csrkit::gpu

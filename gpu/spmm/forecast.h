// The device memory that a multiplication will take, known without a device.
#pragma once

#include <cstdint>
#include <string>

#include "core/contract/spmm.h"

namespace csrkit::gpu {

/// An upper bound, never below Phases::peak_bytes, of the bytes that a plan of the kernel `kernel`
/// takes, with copies of B and C for operands on the host. For `auto`: of the kernel that it would
/// choose. Needs no GPU. Throws UsageError for unknown names, for problems that the kernel cannot
/// do, and for a vendor's kernel, whose memory is known only while it runs.
std::uint64_t forecast_spmm_bytes(const std::string& kernel, const SpmmProblem& problem);

}  // namespace csrkit::gpu

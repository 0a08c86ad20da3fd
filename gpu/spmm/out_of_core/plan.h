// C = alpha * op(A) * B + beta * C with operands that the device cannot hold.
#pragma once

#include <memory>
#include <string>

#include "core/contract/out_of_core.h"
#include "core/contract/spmm.h"

namespace csrkit::gpu {

/// A plan that keeps to PlanOptions::memory_limit_bytes (0: what is free on the device) whatever A,
/// B and C take, and makes the bits that the kernel called `kernel` makes in core; auto's are those
/// of the kernel that it would run in core, or row_bins' if that has no kOutOfCore (chosen_kernel
/// says). `where.threads`: for copies on the host. A panel has at most `most_panel_cols` columns;
/// 0: as the forecast says. `is_panel_major`: bind copies B, panel by panel, into page-locked
/// memory of its size, and C has as much until fetch_output; so nothing but the devices' own copies
/// is left to do in a product, which pays where there are many. Null if `how` is automatic and the
/// product fits in core, or the kernel works in core only. A is on the host. Throws UsageError,
/// MemoryError if not even the smallest blocks and panels fit, NoDeviceError, DeviceError.
std::unique_ptr<OutOfCoreSpmm> make_out_of_core_spmm(const std::string& kernel,
                                                     const SpmmProblem& problem,
                                                     const PlanOptions& options, OutOfCore how,
                                                     Index most_panel_cols, bool is_panel_major);

}  // namespace csrkit::gpu

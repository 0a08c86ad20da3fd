// C = alpha * op(A) * B + beta * C with operands that the device cannot hold.
#pragma once

#include <memory>
#include <string>

#include "core/contract/out_of_core.h"
#include "core/contract/spmm.h"

namespace csrkit::gpu {

/// A plan that stays within PlanOptions::memory_limit_bytes (0: free memory of the device) whatever
/// A, B and C take. It makes the same bits as `kernel` in core; for auto, as the kernel that auto
/// would run in core, or as row_bins if that kernel lacks kOutOfCore (see chosen_kernel).
/// `where.threads` copy on the host. A panel has at most `most_panel_cols` columns; 0: the forecast
/// chooses. `is_panel_major`: bind copies B, panel by panel, into page-locked memory of its size,
/// and C gets as much until fetch_output. Then a product needs only the device's own copies, which
/// pays if there are many products. Returns null if `how` is automatic and the product fits in
/// core, or the kernel works only in core. A is on the host. Throws UsageError, MemoryError if not
/// even the smallest blocks and panels fit, NoDeviceError, DeviceError.
std::unique_ptr<OutOfCoreSpmm> make_out_of_core_spmm(const std::string& kernel,
                                                     const SpmmProblem& problem,
                                                     const PlanOptions& options, OutOfCore how,
                                                     Index most_panel_cols, bool is_panel_major);

}  // namespace csrkit::gpu

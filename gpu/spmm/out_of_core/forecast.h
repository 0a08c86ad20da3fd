// The forecast of an out-of-core product without a device: the kernel, the cut, bytes moved and
// held, seconds. A plan makes the same decision first. Needs no GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/contract/out_of_core_forecast.h"
#include "core/contract/spmm.h"
#include "gpu/spmm/out_of_core/cut.h"

namespace csrkit::gpu {

/// Whether `kernel` may make the product out of core: it does so if `how` demands it, or if the
/// product does not fit in core. Throws UsageError if `how` demands what the kernel cannot do.
bool may_go_out_of_core(const std::string& kernel, const SpmmProblem& problem, OutOfCore how);

/// The kernel that runs, and the cut.
struct OutOfCoreDecision {
  std::string kernel;
  std::string
      because;  // " (because ...)" where another kernel was asked for, or auto would run one
  OutOfCoreProduct product;
  Cut cut;

  std::string choice() const;
  /// What is known without a plan; host memory is not included.
  OutOfCoreReport report() const;
};

/// `row_offsets` are op(A)'s, borrowed. Throws MemoryError if not even the smallest blocks and
/// panels fit the limit.
OutOfCoreDecision decide_out_of_core(const std::string& kernel, const SpmmProblem& problem,
                                     const Offset* row_offsets, std::uint64_t limit_bytes,
                                     OutOfCore how, Index most_panel_cols, bool is_panel_major);

/// What make_out_of_core_spmm would do with `limit_bytes` of device memory and `threads` host
/// threads; no value if it would return no plan. Throws as that does.
std::optional<OutOfCoreForecast> forecast_out_of_core_spmm(const std::string& kernel,
                                                           const SpmmProblem& problem,
                                                           std::uint64_t limit_bytes, int threads,
                                                           OutOfCore how, Index most_panel_cols,
                                                           bool is_panel_major);

}  // namespace csrkit::gpu

// What a product out of core comes to before there is a device: the kernel that runs, the cut, and
// what it moves, holds and takes. A plan begins with the same decision. Needs no GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/contract/out_of_core_forecast.h"
#include "core/contract/spmm.h"
#include "gpu/spmm/out_of_core/cut.h"

namespace csrkit::gpu {

/// Whether the kernel called `kernel` may make the product out of core; it does where `how` says
/// it, or where the product does not fit in core. Throws UsageError where `how` asks for what it
/// cannot do.
bool may_go_out_of_core(const std::string& kernel, const SpmmProblem& problem, OutOfCore how);

/// The kernel that runs, and how it is cut.
struct OutOfCoreDecision {
  std::string kernel;
  std::string
      because;  // " (because ...)" where another kernel was asked for, or auto would run one
  OutOfCoreProduct product;
  Cut cut;

  std::string choice() const;
  /// As far as it is known before there is a plan; without what the host holds.
  OutOfCoreReport report() const;
};

/// `row_offsets`: of op(A), which are borrowed. Throws MemoryError if not even the smallest blocks
/// and panels are within the limit.
OutOfCoreDecision decide_out_of_core(const std::string& kernel, const SpmmProblem& problem,
                                     const Offset* row_offsets, std::uint64_t limit_bytes,
                                     OutOfCore how, Index most_panel_cols, bool is_panel_major);

/// What make_out_of_core_spmm would do with `limit_bytes` of device memory; nothing where it would
/// be no plan out of core. `threads` copy on the host. Throws as that does.
std::optional<OutOfCoreForecast> forecast_out_of_core_spmm(const std::string& kernel,
                                                           const SpmmProblem& problem,
                                                           std::uint64_t limit_bytes, int threads,
                                                           OutOfCore how, Index most_panel_cols,
                                                           bool is_panel_major);

}  // namespace csrkit::gpu

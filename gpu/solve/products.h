// Products with A on the device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/solve.h"
#include "gpu/device/device_buffer.h"

namespace csrkit::gpu {

/// Q = A P for P and Q of `kind` in device memory, in the stream of `memory` and within its limit.
/// options.variant is a kernel of SpMV (of SpMM for several right-hand sides); "" is auto. With
/// `is_captured`, throws UsageError if the kernel cannot be recorded in a CUDA graph.
std::unique_ptr<Operator> make_product(const SolveProblem& problem, const PlanOptions& options,
                                       ValueKind kind, bool is_captured, DeviceMemory& memory);

/// The products that options.variant may name for a problem.
std::vector<std::string> candidate_products(const SolveProblem& problem);

}  // namespace csrkit::gpu

// Products with A on the device, and what else a solver reads of A there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/solve.h"
#include "gpu/device/device_buffer.h"

namespace csrkit::gpu {

/// Q = A P for P and Q of `kind` in device memory, in the stream and within the memory of `memory`.
/// options.variant is a kernel of SpMV (of SpMM for several right-hand sides), "" the table's own
/// choice. With `is_captured` it can be recorded in a CUDA graph, or UsageError.
std::unique_ptr<Operator> make_product(const SolveProblem& problem, const PlanOptions& options,
                                       ValueKind kind, bool is_captured, DeviceMemory& memory);

/// The names that `name` may have for a problem.
std::vector<std::string> candidate_products(const SolveProblem& problem);

}  // namespace csrkit::gpu

// The plan of solvers on the device.
#pragma once

#include <memory>

#include "core/contract/solve.h"
#include "gpu/solve/iterations.h"

namespace csrkit::gpu {

/// `chosen` and `because` are a chooser's choice and reason; "" if the rung was asked for.
std::unique_ptr<Solver> make_solver(const SolveProblem& problem, const PlanOptions& options,
                                    Capabilities capabilities, Rung rung, const char* chosen,
                                    const std::string& because);

}  // namespace csrkit::gpu

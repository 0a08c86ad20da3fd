// z = M^-1 r on the CPU, for the preconditioners of the contract.
#pragma once

#include <memory>
#include <utility>

#include "cpu/solve/plan.h"
#include "cpu/solve/preconditioner.h"

namespace csrkit::cpu {

/// Null for PreconditionerKind::none. `product` multiplies with A in T; chebyshev keeps a reference
/// to it. `spectrum` gets the interval of chebyshev, as in SolveReport.
template <class T>
std::unique_ptr<CpuPreconditioner<T>> make_preconditioner(const SolveInput& input,
                                                          Operator& product,
                                                          std::pair<double, double>* spectrum);

}  // namespace csrkit::cpu

// The products with A that an iteration needs, whether A is sparse or dense.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cpu/solve/plan.h"

namespace csrkit::cpu {

/// Q = A P for P and Q of `kind`, f32 or f64, with the columns of the problem's right-hand sides. A
/// is converted if its values are of another kind. input.product names a kernel of SpMV (of SpMM
/// for several right-hand sides), or one for dense matrices; "" is the table's own choice. Throws
/// UsageError that lists the names.
std::unique_ptr<Operator> make_product(const SolveInput& input, ValueKind kind);

/// Whether that product runs on the resident team of the calling thread (in_team), as the
/// production kernels of SpMV do. A product that opens OpenMP regions would have one thread there.
bool joins_teams(const SolveInput& input);

/// The names that `product` may have for a problem.
std::vector<std::string> candidate_products(const SolveProblem& problem);

}  // namespace csrkit::cpu

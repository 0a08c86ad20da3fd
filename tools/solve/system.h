// The system that csr-solve-<room> is asked to solve: matrix, right-hand sides, where to start.
#pragma once

#include <optional>

#include "tools/solve/options.h"

namespace csrkit {

struct System {
  SolveProblem problem;
  DenseMatrix b, x;                     // x: the guess, or NaN, which a solver must replace
  std::optional<DenseMatrix> solution;  // where it is known
};

/// Reads and makes it. Throws InputError, IoError, MemoryError.
System read_system(const SolveToolOptions& options);

}  // namespace csrkit

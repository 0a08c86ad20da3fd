// What dense_windows says of itself to the chooser.
#pragma once

#include <string>

#include "core/contract/spmm.h"

namespace csrkit::gpu {

/// Why dense_windows refuses this A on the current device; "" if it does not. Whether it can do the
/// kinds and the semiring, the table of kernels says.
std::string why_no_dense_windows(const SpmmProblem& problem);

}  // namespace csrkit::gpu

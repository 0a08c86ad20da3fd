// What the chooser asks dense_windows.
#pragma once

#include <string>

#include "core/contract/spmm.h"

namespace csrkit::gpu {

/// "" if dense_windows takes this A on the current device, else why not. Kinds and semirings are
/// checked by the table of kernels.
std::string why_no_dense_windows(const SpmmProblem& problem);

}  // namespace csrkit::gpu

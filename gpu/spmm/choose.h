// What auto's choice rests on: when panels of rows pay, and when a stencil does. No CUDA here: it
// is tested without a GPU.
#pragma once

#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

/// Whether row_panels is expected to take less time than row_bins.
bool panels_pay(const SpmmProfile& profile);

/// Whether a sample of A's rows has few diagonals, well filled. Up to eight columns B and C are
/// what moves then: where A is a few numbers and a bit an entry, it need not be read. The more
/// columns there are, the fewer diagonals that is worth.
bool stencil_pays(const SpmmProblem& problem);

}  // namespace csrkit::gpu

// A rule of auto: when the tensor cores of dense_windows pay. No CUDA here.
#pragma once

#include "core/contract/spmm.h"

namespace csrkit::gpu {

/// Whether dense_windows can make this product on the current device, and is expected to take less
/// time than row_bins.
bool windows_pay(const SpmmProblem& problem);

}  // namespace csrkit::gpu

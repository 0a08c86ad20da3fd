// A rule of auto: when the tensor cores of dense_windows pay. No CUDA here.
#pragma once

#include "core/contract/spmm.h"

namespace csrkit::gpu {

/// The natural logarithm of the expected time of dense_windows over that of row_bins; infinity
/// where dense_windows cannot make this product on the current device, or would not pay.
double log_windows_over_bins(const SpmmProblem& problem);

}  // namespace csrkit::gpu

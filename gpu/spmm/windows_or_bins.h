// A rule of auto: when the tensor cores of dense_windows pay. No CUDA here.
#pragma once

#include "core/contract/spmm.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// The natural logarithm of the expected time of dense_windows over that of row_bins; infinity
/// where dense_windows cannot make this product on the current device, or would not pay.
double log_windows_over_bins(const SpmmProblem& problem);

/// The same from sizes alone, if all windows had as many entries; infinity where rows are too
/// short.
double log_even_windows_over_bins(const SpmmSizes& sizes, ValueKind kind_of_b, int multiprocessors);

}  // namespace csrkit::gpu

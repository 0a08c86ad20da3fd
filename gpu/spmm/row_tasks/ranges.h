// The order in which row_bins visits rows, as far as sizes decide it.
#pragma once

#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// With so many entries a row on average, rows are short: most are in strips.
inline constexpr Offset kShortMean = 4;

/// Whether rows are sorted by length within ranges of rows, which keeps neighbours near each other,
/// instead of all together. `value_bytes`: of a value of A.
bool has_ranges(const SpmmSizes& sizes, int value_bytes);

}  // namespace csrkit::gpu

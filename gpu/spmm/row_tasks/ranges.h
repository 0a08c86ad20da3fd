// In which order row_bins visits rows, as far as sizes decide it.
#pragma once

#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// Rows of so many entries in the mean are short: most are in strips.
inline constexpr Offset kShortMean = 4;

/// Whether rows are sorted by length within ranges, where neighbours stay near each other, and not
/// all of them together. `value_bytes`: of one value of A.
bool has_ranges(const SpmmSizes& sizes, int value_bytes);

}  // namespace csrkit::gpu

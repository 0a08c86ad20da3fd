// In which order row_bins visits rows, as far as sizes decide it.
#pragma once

#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// Whether rows are sorted by length within ranges, where neighbours stay near each other, and not
/// all of them together. `value_bytes`: of one value of A.
bool has_ranges(const SpmmSizes& sizes, int value_bytes);

}  // namespace csrkit::gpu

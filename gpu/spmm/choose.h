// The model behind auto's choice between gathering row by row and panels of rows. No CUDA here: it
// is tested without a GPU.
#pragma once

#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

/// Whether row_panels is expected to take less time than row_bins.
bool panels_pay(const SpmmProfile& profile);

}  // namespace csrkit::gpu

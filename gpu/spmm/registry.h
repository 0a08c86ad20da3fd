// The SpMM kernels for NVIDIA GPUs, in the order of kernels.inc.
#pragma once

#include <vector>

#include "core/spmm.h"

namespace csrkit::gpu {

const std::vector<SpmmKernel>& spmm_kernels();

}  // namespace csrkit::gpu

// The SpGEMM kernels for NVIDIA GPUs, in the order of kernels.inc.
#pragma once

#include <vector>

#include "core/spgemm.h"

namespace csrkit::gpu {

const std::vector<SpgemmKernel>& spgemm_kernels();

}  // namespace csrkit::gpu

// The SpGEMM kernels for CPUs, in the order of kernels.inc.
#pragma once

#include <vector>

#include "core/contract/spgemm.h"

namespace csrkit::cpu {

const std::vector<SpgemmKernel>& spgemm_kernels();

}  // namespace csrkit::cpu

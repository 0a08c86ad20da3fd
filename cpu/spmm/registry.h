// The SpMM kernels for CPUs, in the order of kernels.inc.
#pragma once

#include <vector>

#include "core/spmm.h"

namespace csrkit::cpu {

const std::vector<SpmmKernel>& spmm_kernels();

}  // namespace csrkit::cpu

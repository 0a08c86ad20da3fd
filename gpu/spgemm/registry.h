// The SpGEMM kernels for NVIDIA GPUs, in the order of kernels.inc.
#pragma once

#include <string>
#include <vector>

#include "core/contract/spgemm.h"

namespace csrkit::gpu {

const std::vector<SpgemmKernel>& spgemm_kernels();

/// The kernel that auto would run.
std::string auto_spgemm_kernel(const SpgemmProblem& problem);

}  // namespace csrkit::gpu

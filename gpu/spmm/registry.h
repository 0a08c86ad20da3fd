// The SpMM kernels for NVIDIA GPUs, in the order of kernels.inc.
#pragma once

#include <string>
#include <vector>

#include "core/contract/spmm.h"

namespace csrkit::gpu {

const std::vector<SpmmKernel>& spmm_kernels();

/// The kernel that auto would run.
std::string auto_spmm_kernel(const SpmmProblem& problem);

/// Passes that are no multiplications but tell how fast one can be, in the order of marks.inc. They
/// are made and timed like kernels; C is not written.
const std::vector<SpmmKernel>& spmm_marks();

}  // namespace csrkit::gpu

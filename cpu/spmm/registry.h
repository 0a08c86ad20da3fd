// The SpMM kernels for CPUs, in the order of kernels.inc.
#pragma once

#include <vector>

#include "core/contract/spmm.h"

namespace csrkit::cpu {

const std::vector<SpmmKernel>& spmm_kernels();

/// Passes that are no multiplications but tell how fast one can be, in the order of marks.inc. They
/// are made and timed like kernels; C is not written.
const std::vector<SpmmKernel>& spmm_marks();

}  // namespace csrkit::cpu

// The tables of kernels for NVIDIA GPUs, each in the order of its kernels.inc. An operation may use
// another one's kernels, which it finds here: what a table holds is its operation's own affair.
#pragma once

#include <string>

#include "core/contract/spgemm.h"
#include "core/contract/spmm.h"

namespace csrkit::gpu {

const KernelTable<Spmm>& spmm_kernels();
const KernelTable<Spgemm>& spgemm_kernels();

/// The kernel that auto would run.
std::string auto_spmm_kernel(const SpmmProblem& problem);
std::string auto_spgemm_kernel(const SpgemmProblem& problem);

/// Passes that are no multiplications but tell how fast one can be, in the order of marks.inc. They
/// are made and timed like kernels; C is not written.
const KernelTable<Spmm>& spmm_marks();

}  // namespace csrkit::gpu

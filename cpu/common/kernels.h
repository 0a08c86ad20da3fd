// The tables of kernels for CPUs, each in the order of its kernels.inc. An operation that uses
// another one's kernels finds them here, and knows nothing else of it.
#pragma once

#include "core/contract/sddmm.h"
#include "core/contract/solve.h"
#include "core/contract/spgemm.h"
#include "core/contract/spmm.h"

namespace csrkit::cpu {

const KernelTable<Spmm>& spmm_kernels();
const KernelTable<Spgemm>& spgemm_kernels();
const KernelTable<Sddmm>& sddmm_kernels();

/// SpMM of one column: the same contract, kernels of its own.
const KernelTable<Spmm>& spmv_kernels();

/// Solvers, which multiply with the kernels above.
const KernelTable<Solve>& solve_kernels();

/// Passes that multiply nothing but show how fast a product can be, in the order of marks.inc. They
/// are made and timed like kernels; C is not written.
const KernelTable<Spmm>& spmm_marks();

}  // namespace csrkit::cpu

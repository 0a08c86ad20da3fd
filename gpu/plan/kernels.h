// The tables of kernels for NVIDIA GPUs, each in the order of its kernels.inc. An operation may use
// another one's kernels, which it finds here: what a table holds is its operation's own affair.
#pragma once

#include <string>

#include "core/contract/sddmm.h"
#include "core/contract/solve.h"
#include "core/contract/spgemm.h"
#include "core/contract/spmm.h"

namespace csrkit::gpu {

const KernelTable<Spmm>& spmm_kernels();
const KernelTable<Spmm>& spmv_kernels();
const KernelTable<Spgemm>& spgemm_kernels();
const KernelTable<Sddmm>& sddmm_kernels();

/// Solvers, which multiply with the kernels above.
const KernelTable<Solve>& solve_kernels();

/// The kernel that auto would run. One of SpMV's has "spmv." before its name: "spmv.auto" for one
/// column, which looks at the matrix on the device, or "spmv.stencil" for a few.
std::string auto_spmm_kernel(const SpmmProblem& problem);
std::string auto_spgemm_kernel(const SpgemmProblem& problem);

/// Most bytes that a plan of the SpMV kernel called `kernel` and the device's copies of x and y
/// will hold, its conversion included, for operands on the host; of `auto`, the most that any
/// kernel that it may choose takes. Reads A's row offsets; for A^T and for dia, its columns as
/// well. Never below Phases::peak_bytes. Needs no GPU. Throws UsageError for names that are not in
/// the table, for what the kernel cannot do, for a vendor's kernel, and for an A on the device.
std::uint64_t forecast_spmv_bytes(const std::string& kernel, const SpmmProblem& problem);

/// Passes that are no multiplications but tell how fast one can be, in the order of marks.inc. They
/// are made and timed like kernels; C is not written.
const KernelTable<Spmm>& spmm_marks();

}  // namespace csrkit::gpu

// The tables of kernels for NVIDIA GPUs, each in the order of its kernels.inc. An operation that
// uses another one's kernels finds them here, never by their files.
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

/// The kernel that auto would run. A kernel of SpMV has "spmv." before its name: "spmv.auto" for
/// one column (it decides later, on the device), "spmv.stencil" or "spmv.jagged" for a few columns.
std::string auto_spmm_kernel(const SpmmProblem& problem);
std::string auto_spgemm_kernel(const SpgemmProblem& problem);

/// An upper bound, never below Phases::peak_bytes: the bytes that a plan of the SpMV kernel
/// `kernel` takes, its conversion included, with copies of x and y for operands on the host. For
/// `auto`: the most that any kernel that it may choose takes. Reads A's row offsets; for A^T and
/// for dia also its columns. Needs no GPU. Throws UsageError for unknown names, for what the kernel
/// cannot do, for a vendor's kernel, and for an A on the device.
std::uint64_t forecast_spmv_bytes(const std::string& kernel, const SpmmProblem& problem);

/// Marks: passes that multiply nothing but bound how fast a product can be, in the order of
/// marks.inc. They are made and timed like kernels. They do not write C.
const KernelTable<Spmm>& spmm_marks();

}  // namespace csrkit::gpu

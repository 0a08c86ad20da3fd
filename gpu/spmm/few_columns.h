// The rules of auto for a B of few columns: when two kernels of SpMV pay. No CUDA here: the rules
// are tested without a GPU.
#pragma once

#include "core/contract/spmm.h"

namespace csrkit::gpu {

/// Whether jagged, a kernel of SpMV whose lanes take up to four columns each, is expected to take
/// less time than row_bins, whose groups of eight lanes are mostly idle then. Measured on H100s
/// (docs/lab/2026-11-27-spmm-few-columns.md).
bool segments_pay(const SpmmProblem& problem);

/// Whether a sample of A's rows lies on few, well filled diagonals, and B has at most eight
/// columns. A stencil stores such an A as a few numbers and a bit per entry, so B and C are most of
/// the traffic. The more columns there are, the fewer diagonals pay.
bool stencil_pays(const SpmmProblem& problem);

}  // namespace csrkit::gpu

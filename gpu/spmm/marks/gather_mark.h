// The gather mark below its plan, so that a test can see that it gathers what it says.
#pragma once

#include <cuda_runtime.h>

#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// Nonzeros per piece: equal work for all, and long enough that its sum costs nothing.
inline constexpr int kGatherMarkPieceEntries = 64;

/// Queues the pass over A (nnz of it, rows ignored) and B (f32, f64, f16 or bf16 as `kind` says).
/// `piece_sums`: null, or room for one row of b.cols numbers per piece, the sum of value times row
/// of B over the piece's nonzeros. Throws UsageError unless B's rows begin at multiples of 16
/// bytes.
void gather_for_mark(const DeviceCsrView<void>& a, ValueKind kind, const ConstDenseView& b,
                     bool is_sliced, float* piece_sums, cudaStream_t stream);

}  // namespace csrkit::gpu

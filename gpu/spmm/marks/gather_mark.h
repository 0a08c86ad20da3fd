// The gather mark without its plan, so that a test can check what it gathers.
#pragma once

#include <cuda_runtime.h>

#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// Nonzeros per piece: long enough that writing its sum costs nothing.
inline constexpr int kGatherMarkPieceEntries = 64;

/// Queues the pass over A (its nonzeros; rows are ignored) and B of `kind` (f32, f64, f16 or bf16).
/// `piece_sums` is null or has a row of b.cols numbers for each piece: the sum of value times row
/// of B over the piece's nonzeros. Throws UsageError unless B's rows begin at multiples of 16
/// bytes.
void gather_for_mark(const DeviceCsrView<void>& a, ValueKind kind, const ConstDenseView& b,
                     bool is_sliced, float* piece_sums, cudaStream_t stream);

}  // namespace csrkit::gpu

// Kernels that gather and add rows of dense matrices between ranks.
#pragma once

#include <cuda_runtime.h>

#include "core/matrix/dense_matrix.h"

namespace csrkit::gpu {

/// Copies row numbers[i] of `from` to row i of `to`, for i < count. Rows have `row_bytes` bytes, a
/// multiple of 2, and no padding. All arrays are on the device; queued.
void gather_rows(const void* from, const Index* numbers, Index count, Offset row_bytes, void* to,
                 cudaStream_t stream);

/// How another GPU's memory is read. alone: with enough threads to saturate the link, which leave
/// little of the device to a product. beside: with fewer threads and more loads in flight each;
/// takes 1.15 times as long. quiet: with fewer still; takes 1.6 times as long, for products that
/// take longer than that.
enum class FarReads { alone, beside, quiet };

/// gather_rows from the memory of another GPU that this one may read (let_read): the exchange
/// itself.
void gather_far_rows(const void* from, const Index* numbers, Index count, Offset row_bytes,
                     void* to, FarReads how, cudaStream_t stream);

/// Adds row i of `terms` to row numbers[i] of C. Numbers are unique: rows are added without
/// atomics. f32 or f64 (else UsageError), both without padding; queued.
void add_rows(const DenseView& c, const Index* numbers, const ConstDenseView& terms,
              cudaStream_t stream);

}  // namespace csrkit::gpu

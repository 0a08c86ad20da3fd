// Rows of dense matrices on their way between ranks.
#pragma once

#include <cuda_runtime.h>

#include "core/matrix/dense_matrix.h"

namespace csrkit::gpu {

/// Row i of `to` becomes row numbers[i] of `from`, of `row_bytes` each, which an element's size
/// divides.
void gather_rows(const void* from, const Index* numbers, Index count, Offset row_bytes, void* to,
                 cudaStream_t stream);

/// How another GPU's memory is read. alone: by as many threads as a link can serve, which leave a
/// product little of the device. beside: by fewer, with more reads under way each; 1.15 times as
/// long. quiet: by fewer still, 1.6 times as long, where a product takes longer than that.
enum class FarReads { alone, beside, quiet };

/// gather_rows where `from` is the memory of another GPU that this one may read: this is the
/// exchange.
void gather_far_rows(const void* from, const Index* numbers, Index count, Offset row_bytes,
                     void* to, FarReads how, cudaStream_t stream);

/// Row numbers[i] of C becomes itself plus row i of `terms`: f32 or f64, both without padding.
void add_rows(const DenseView& c, const Index* numbers, const ConstDenseView& terms,
              cudaStream_t stream);

}  // namespace csrkit::gpu

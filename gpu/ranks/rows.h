// Rows of dense matrices on their way between ranks.
#pragma once

#include <cuda_runtime.h>

#include "core/matrix/dense_matrix.h"

namespace csrkit::gpu {

/// Row i of `to` becomes row numbers[i] of `from`, of `row_bytes` each, which an element's size
/// divides.
void gather_rows(const void* from, const Index* numbers, Index count, Offset row_bytes, void* to,
                 cudaStream_t stream);
/// The same where `from` is the memory of another GPU that this one may read: this is the exchange.
/// quick: as many threads as a link can serve. quiet: a few of them, with more reads under way
/// each; that takes about 1.6 times as long, and leaves the device to a product that takes longer
/// still.
enum class FarReads { quick, quiet };
void gather_far_rows(const void* from, const Index* numbers, Index count, Offset row_bytes,
                     void* to, FarReads how, cudaStream_t stream);

/// Row numbers[i] of C becomes itself plus row i of `terms`: f32 or f64, both without padding.
void add_rows(const DenseView& c, const Index* numbers, const ConstDenseView& terms,
              cudaStream_t stream);

}  // namespace csrkit::gpu

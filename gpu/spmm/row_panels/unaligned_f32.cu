// row_panels in f32, where rows of B or C begin anywhere.

#include "gpu/spmm/row_panels/kernel.cuh"

namespace csrkit::gpu {

template struct PiecesPanelsKernels<SpmmTypes<float, float>>;

}  // namespace csrkit::gpu

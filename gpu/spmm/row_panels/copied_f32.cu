// row_panels in f32, where rows begin anywhere.

#include "gpu/spmm/row_panels/kernel.cuh"

namespace csrkit::gpu {

template struct CopiedPanelsKernels<SpmmTypes<float, float>>;
template struct TurningPanelsKernels<SpmmTypes<float, float>>;

}  // namespace csrkit::gpu

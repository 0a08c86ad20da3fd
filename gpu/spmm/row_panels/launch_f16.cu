// row_panels in f16.

#include "gpu/spmm/row_panels/tiles_kernel.cuh"

namespace csrkit::gpu {

template struct TiledPanelsKernels<SpmmTypes<f16, f16>, 8>;
template struct TiledPanelsKernels<SpmmTypes<f16, f16>, 4>;
template struct TiledPanelsKernels<SpmmTypes<f16, f16>, 1>;
template struct TiledPanelsKernels<SpmmTypes<f16, float>, 8>;
template struct TiledPanelsKernels<SpmmTypes<f16, float>, 4>;
template struct TiledPanelsKernels<SpmmTypes<f16, float>, 1>;

}  // namespace csrkit::gpu

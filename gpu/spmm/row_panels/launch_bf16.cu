// row_panels in bf16.

#include "gpu/spmm/row_panels/tiles_kernel.cuh"

namespace csrkit::gpu {

template struct TiledPanelsKernels<SpmmTypes<bf16, bf16>, 8>;
template struct TiledPanelsKernels<SpmmTypes<bf16, bf16>, 4>;
template struct TiledPanelsKernels<SpmmTypes<bf16, bf16>, 1>;
template struct TiledPanelsKernels<SpmmTypes<bf16, float>, 8>;
template struct TiledPanelsKernels<SpmmTypes<bf16, float>, 4>;
template struct TiledPanelsKernels<SpmmTypes<bf16, float>, 1>;

}  // namespace csrkit::gpu

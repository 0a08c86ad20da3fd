// row_panels in f32.

#include "gpu/spmm/row_panels/kernel.cuh"

namespace csrkit::gpu {

template struct RowPanelsKernels<SpmmTypes<float, float>, 4>;
template struct RowPanelsKernels<SpmmTypes<float, float>, 2>;
template struct RowPanelsKernels<SpmmTypes<float, float>, 1>;
template struct RowPanelsKernels<SpmmTypes<float, float, false>, 1>;

}  // namespace csrkit::gpu

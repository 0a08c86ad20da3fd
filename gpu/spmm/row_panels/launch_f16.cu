// row_panels in f16.

#include "gpu/spmm/row_panels/kernel.cuh"

namespace csrkit::gpu {

template struct RowPanelsKernels<SpmmTypes<f16, f16>, 8>;
template struct RowPanelsKernels<SpmmTypes<f16, f16>, 4>;
template struct RowPanelsKernels<SpmmTypes<f16, f16>, 1>;
template struct RowPanelsKernels<SpmmTypes<f16, float>, 8>;
template struct RowPanelsKernels<SpmmTypes<f16, float>, 4>;
template struct RowPanelsKernels<SpmmTypes<f16, float>, 1>;

}  // namespace csrkit::gpu

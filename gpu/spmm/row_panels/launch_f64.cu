// row_panels in f64.

#include "gpu/spmm/row_panels/kernel.cuh"

namespace csrkit::gpu {

template struct RowPanelsKernels<SpmmTypes<double, double>, 2>;
template struct RowPanelsKernels<SpmmTypes<double, double>, 1>;
template struct RowPanelsKernels<SpmmTypes<double, double, false>, 1>;

}  // namespace csrkit::gpu

// row_panels in f64, where rows begin anywhere.

#include "gpu/spmm/row_panels/kernel.cuh"

namespace csrkit::gpu {

template struct CopiedPanelsKernels<SpmmTypes<double, double>>;

}  // namespace csrkit::gpu

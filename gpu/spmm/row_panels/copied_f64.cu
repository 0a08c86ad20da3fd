// row_panels in f64, where rows of C begin anywhere.

#include "gpu/spmm/row_panels/kernel.cuh"

namespace csrkit::gpu {

template struct CopiedPanelsKernels<SpmmTypes<double, double>>;

}  // namespace csrkit::gpu

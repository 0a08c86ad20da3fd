// row_bins in f64.

#include "gpu/spmm/row_bins/kernel.cuh"

namespace csrkit::gpu {

template struct RowBinsKernels<SpmmTypes<double, double>, 2>;
template struct RowBinsKernels<SpmmTypes<double, double>, 1>;
template struct RowBinsKernels<SpmmTypes<double, double, false>, 1>;

}  // namespace csrkit::gpu

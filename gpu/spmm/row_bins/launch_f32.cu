// row_bins in f32.

#include "gpu/spmm/row_bins/kernel.cuh"

namespace csrkit::gpu {

template struct RowBinsKernels<SpmmTypes<float, float>, 4>;
template struct RowBinsKernels<SpmmTypes<float, float>, 2>;
template struct RowBinsKernels<SpmmTypes<float, float>, 1>;
template struct RowBinsKernels<SpmmTypes<float, float, false>, 1>;

}  // namespace csrkit::gpu

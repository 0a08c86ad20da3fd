// row_bins in f16.

#include "gpu/spmm/row_bins/kernel.cuh"

namespace csrkit::gpu {

template struct RowBinsKernels<SpmmTypes<f16, f16>, 8>;
template struct RowBinsKernels<SpmmTypes<f16, f16>, 4>;
template struct RowBinsKernels<SpmmTypes<f16, f16>, 1>;
template struct RowBinsKernels<SpmmTypes<f16, float>, 8>;
template struct RowBinsKernels<SpmmTypes<f16, float>, 4>;
template struct RowBinsKernels<SpmmTypes<f16, float>, 1>;

}  // namespace csrkit::gpu

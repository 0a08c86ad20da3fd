// row_bins in bf16.

#include "gpu/spmm/row_bins/kernel.cuh"

namespace csrkit::gpu {

template struct RowBinsKernels<SpmmTypes<bf16, bf16>, 8>;
template struct RowBinsKernels<SpmmTypes<bf16, bf16>, 4>;
template struct RowBinsKernels<SpmmTypes<bf16, bf16>, 1>;
template struct RowBinsKernels<SpmmTypes<bf16, float>, 8>;
template struct RowBinsKernels<SpmmTypes<bf16, float>, 4>;
template struct RowBinsKernels<SpmmTypes<bf16, float>, 1>;

}  // namespace csrkit::gpu

// row_bins in bf16, where rows of B or C begin anywhere.

#include "gpu/spmm/row_bins/unaligned.cuh"

namespace csrkit::gpu {

template struct UnalignedBinsKernels<SpmmTypes<bf16, bf16>>;
template struct UnalignedBinsKernels<SpmmTypes<bf16, float>>;
template struct CopiedBinsKernels<SpmmTypes<bf16, bf16>>;
template struct CopiedBinsKernels<SpmmTypes<bf16, float>>;

}  // namespace csrkit::gpu

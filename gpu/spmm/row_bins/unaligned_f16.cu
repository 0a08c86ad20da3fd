// row_bins in f16, where rows of B or C begin anywhere.

#include "gpu/spmm/row_bins/unaligned.cuh"

namespace csrkit::gpu {

template struct UnalignedBinsKernels<SpmmTypes<f16, f16>>;
template struct UnalignedBinsKernels<SpmmTypes<f16, float>>;
template struct CopiedBinsKernels<SpmmTypes<f16, f16>>;
template struct CopiedBinsKernels<SpmmTypes<f16, float>>;

}  // namespace csrkit::gpu

// row_bins in f32, where rows of B or C begin anywhere.

#include "gpu/spmm/row_bins/unaligned.cuh"

namespace csrkit::gpu {

template struct UnalignedBinsKernels<SpmmTypes<float, float>>;

}  // namespace csrkit::gpu

#include "gpu/spmm/dense_windows/halves/launch.cuh"

namespace csrkit::gpu {

template void multiply_by_windows(const WindowOperands<SpmmTypes<f16, f16>>&, cudaStream_t);
template void multiply_by_windows(const WindowOperands<SpmmTypes<f16, float>>&, cudaStream_t);

}  // namespace csrkit::gpu

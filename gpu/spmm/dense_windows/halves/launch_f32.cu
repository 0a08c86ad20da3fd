#include "gpu/spmm/dense_windows/halves/launch.cuh"

namespace csrkit::gpu {

int halves_window_shared_bytes(WindowKind kind) {
  return kind == WindowKind::one_half ? sizeof(WindowsInShared<128, 1>)
                                      : sizeof(WindowsInShared<128, 2>);
}

template void multiply_by_windows(const WindowOperands<SpmmTypes<float, float>>&, cudaStream_t);

}  // namespace csrkit::gpu

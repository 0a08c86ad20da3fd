#include "gpu/spmv/compressed/compressed.cuh"

namespace csrkit::gpu {

std::unique_ptr<DeviceSpmv> make_spmv_compressed(const SpmmProblem& problem) {
  return typed_spmv<Compressed>(problem);
}

}  // namespace csrkit::gpu

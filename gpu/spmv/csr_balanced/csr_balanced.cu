#include "gpu/spmv/csr_balanced/csr_balanced.cuh"

namespace csrkit::gpu {

std::unique_ptr<DeviceSpmv> make_spmv_csr_balanced(const SpmmProblem& problem) {
  return typed_spmv<CsrBalanced>(problem);
}

}  // namespace csrkit::gpu

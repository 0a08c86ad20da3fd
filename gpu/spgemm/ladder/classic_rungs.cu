// The classic rungs as the ladder shows them: kernels of blocks of threads and tiles of columns.
// studies/spgemm_shapes compiles them in other shapes.

#include "gpu/spgemm/ladder/v0_thread_per_row.cuh"
#include "gpu/spgemm/ladder/v1_cached_members.cuh"
#include "gpu/spgemm/ladder/v2_block_per_row.cuh"
#include "gpu/spgemm/ladder/v3_batched_writes.cuh"
#include "gpu/spgemm/ladder/v4_thread_counts.cuh"

namespace csrkit::gpu {

std::unique_ptr<DeviceSpgemm> make_device_v0_thread_per_row(const SpgemmProblem& problem) {
  return make_rung<ThreadPerRow<64, 512>>(problem);
}

std::unique_ptr<DeviceSpgemm> make_device_v1_cached_members(const SpgemmProblem& problem) {
  return make_rung<CachedMembers<64, 512>>(problem);
}

std::unique_ptr<DeviceSpgemm> make_device_v2_block_per_row(const SpgemmProblem& problem) {
  return make_rung<BlockPerRow<256, 2048>>(problem);
}

std::unique_ptr<DeviceSpgemm> make_device_v3_batched_writes(const SpgemmProblem& problem) {
  return make_rung<BatchedWrites<256, 2048>>(problem);
}

std::unique_ptr<DeviceSpgemm> make_device_v4_thread_counts(const SpgemmProblem& problem) {
  return make_rung<ThreadCounts<256, 4096>>(problem);
}

}  // namespace csrkit::gpu

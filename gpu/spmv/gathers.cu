#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/gathers.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

namespace {

/// One thread per entry: the first lane of those with the same sector counts it.
__global__ void count_sectors(DeviceCsrView<void> a, int elements, unsigned long long* count) {
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  const Index sector = at < a.nnz ? a.col_indices[at] / elements : -1;
  const unsigned same = __match_any_sync(kAllLanes, sector);
  const bool is_first =
      __ffs(static_cast<int>(same)) - 1 == static_cast<int>(threadIdx.x) % kWarpLanes;
  const int in_block = __syncthreads_count(is_first && sector >= 0);
  if (threadIdx.x == 0) atomicAdd(count, static_cast<unsigned long long>(in_block));
}

}  // namespace

Offset count_gathered_sectors(const DeviceCsrView<void>& a, int element_bytes,
                              DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  const DeviceBuffer<unsigned long long> count(memory, 1, "counting sectors of x");
  CHECK_CUDA(cudaMemsetAsync(count.data(), 0, count.size_bytes(), stream));
  if (a.nnz > 0) {
    count_sectors<<<spmv_blocks(a.nnz), kSpmvThreads, 0, stream>>>(a, kSectorBytes / element_bytes,
                                                                   count.data());
    CHECK_LAUNCH("count_sectors", stream);
  }
  return static_cast<Offset>(fetch(count.data(), stream));
}

}  // namespace csrkit::gpu

// Whether A has twins side by side, by a sample of its rows.
// Owns     a lane: one row and the next
// Reads    both rows
// Launch   256 threads
// Against  a look for twins at all rows, which takes a tenth of the time where there are none

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spgemm/adaptive_rows/profile/profile.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr Offset kLongest = 512;  // of rows of A; longer ones are no twins (profile_rows.cu)

/// Adds to `alike` how many of `count` rows, spread over A, have the columns of the next.
__global__ void __launch_bounds__(kThreads)
    count_like_next(DeviceCsrView<void> a, int count, std::uint32_t* alike) {
  const int sample = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  bool is_same = sample < count;
  if (is_same) {
    const auto row = static_cast<Index>(Offset{sample} * (a.rows - 1) / count);
    const Offset begin = a.row_begin(row), next = a.row_end(row), length = next - begin;
    is_same = length > 0 && length <= kLongest && a.row_end(row + 1) - next == length;
    for (Offset i = 0; is_same && i < length; ++i) {
      is_same = __ldg(a.col_indices + begin + i) == __ldg(a.col_indices + next + i);
    }
  }
  const int of_block = __syncthreads_count(static_cast<int>(is_same));
  if (threadIdx.x == 0 && of_block > 0) atomicAdd(alike, static_cast<std::uint32_t>(of_block));
}

}  // namespace

bool has_twins_side_by_side(const DeviceCsrView<void>& a, DeviceMemory& memory) {
  constexpr Index kMostSampled = 1024;
  const cudaStream_t stream = memory.stream();
  const int count = std::min(a.rows - 1, kMostSampled);
  const DeviceBuffer<std::uint32_t> alike(memory, 1, "a sample of rows");
  CHECK_CUDA(cudaMemsetAsync(alike.data(), 0, sizeof(std::uint32_t), stream));
  count_like_next<<<blocks_of(count, kThreads), kThreads, 0, stream>>>(a, count, alike.data());
  CHECK_LAUNCH("count_like_next", stream);
  std::uint32_t found = 0;
  CHECK_CUDA(cudaMemcpyAsync(&found, alike.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  return 4 * found >= static_cast<std::uint32_t>(count);
}

}  // namespace csrkit::gpu

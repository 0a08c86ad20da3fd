// meet: a barrier between GPUs; one block, a thread for each other rank.
// Owns     a counter of meetings, on the device, so that a graph can be launched repeatedly
// Reads    its own flags, which other GPUs write
// Launch   one block
// Needs    all GPUs to run at the same time: work queued before a meeting must not wait for another
//          rank

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/page_locked_cells.h"
#include "gpu/ranks/meeting.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 32;

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void __launch_bounds__(kThreads)
    meet(int rank, int ranks, volatile unsigned* flags, unsigned* const* theirs, unsigned* count,
         unsigned long long limit, volatile int* missing) {
  const unsigned number = *count + 1;
  const bool is_over = *missing != 0;
  const unsigned long long begun = nanoseconds();
  // A GPU that sees the flag also sees all that this GPU wrote before.
  __threadfence_system();
  for (int other = static_cast<int>(threadIdx.x); other < ranks; other += kThreads) {
    if (other != rank) *static_cast<volatile unsigned*>(theirs[other]) = number;
  }
  for (int other = static_cast<int>(threadIdx.x); other < ranks; other += kThreads) {
    if (other == rank) continue;
    // A faster rank may already be one meeting ahead.
    while (!is_over && static_cast<int>(flags[other] - number) < 0) {
      if (nanoseconds() - begun > limit) {
        *missing = other + 1;
        break;
      }
    }
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *count = number;
}

}  // namespace

Meeting::Meeting(int rank, unsigned* flags, const std::vector<unsigned*>& theirs, double seconds)
    : rank_(rank), ranks_(static_cast<int>(theirs.size())), flags_(flags), seconds_(seconds) {
  std::vector<unsigned*> places;
  places.reserve(theirs.size());
  for (unsigned* const their : theirs) places.push_back(their + rank);
  const std::size_t bytes = places.size() * sizeof(unsigned*);
  CHECK_CUDA(cudaMalloc(&theirs_, bytes + sizeof(unsigned)));
  count_ = reinterpret_cast<unsigned*>(theirs_ + places.size());
  CHECK_CUDA(cudaMemset(count_, 0, sizeof(unsigned)));
  CHECK_CUDA(cudaMemcpy(theirs_, places.data(), bytes, cudaMemcpyHostToDevice));
  // load the kernel now: loading later could wait for work that waits for this rank
  cudaFuncAttributes loaded = {};
  CHECK_CUDA(cudaFuncGetAttributes(&loaded, meet));
  missing_ = static_cast<int*>(PageLockedCells::take());
  *missing_ = 0;
}

Meeting::~Meeting() {
  CHECK_CUDA_NOEXCEPT(cudaFree(theirs_));  // waits for kernels that use it
  PageLockedCells::give_back(missing_);
}

void Meeting::queue(cudaStream_t stream) const {
  meet<<<1, kThreads, 0, stream>>>(rank_, ranks_, flags_, theirs_, count_,
                                   static_cast<unsigned long long>(seconds_ * 1e9), missing_);
  CHECK_LAUNCH("meet", stream);
}

int Meeting::missing() const { return *static_cast<volatile int*>(missing_) - 1; }

}  // namespace csrkit::gpu

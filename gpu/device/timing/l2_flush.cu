#include "gpu/device/cuda_check.h"
#include "gpu/device/timing/l2_flush.h"

namespace csrkit::gpu {

namespace {

__global__ void read_everything(const int4* data, Offset size, int* sink) {
  int sum = 0;
  for (Offset at = Offset{blockIdx.x} * blockDim.x + threadIdx.x; at < size;
       at += Offset{gridDim.x} * blockDim.x) {
    const int4 item = data[at];
    sum ^= item.x ^ item.y ^ item.z ^ item.w;
  }
  // Never true, because the buffer holds zeros; the compiler cannot know, so it keeps the reads.
  if (sum != 0) *sink = sum;
}

Offset l2_bytes_of(int device) {
  int bytes = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
  return bytes;
}

}  // namespace

L2Flush::L2Flush(int device, cudaStream_t stream)
    : memory_(device, stream, 0),
      buffer_(memory_, 2 * l2_bytes_of(device) / static_cast<Offset>(sizeof(int4)),
              "flushing the L2 cache"),
      sink_(memory_, 1, "flushing the L2 cache") {
  CHECK_CUDA(cudaMemsetAsync(buffer_.data(), 0, buffer_.size_bytes(), stream));
}

void L2Flush::run() {
  constexpr int kThreads = 256, kBlocks = 2048;
  read_everything<<<kBlocks, kThreads, 0, memory_.stream()>>>(buffer_.data(), buffer_.size(),
                                                              sink_.data());
  CHECK_LAUNCH("read_everything", memory_.stream());
}

}  // namespace csrkit::gpu

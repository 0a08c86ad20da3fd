#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/spmv/row_lengths.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

namespace {

struct Lengths {
  unsigned long long rows[kCountedLengths];
  unsigned long long longest;
};

__global__ void count_lengths(DeviceCsrView<void> a, Lengths* lengths) {
  __shared__ unsigned rows[kCountedLengths];
  __shared__ unsigned longest;
  for (int i = static_cast<int>(threadIdx.x); i < kCountedLengths; i += kSpmvThreads) rows[i] = 0;
  if (threadIdx.x == 0) longest = 0;
  __syncthreads();
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (at < a.rows) {
    const auto row = static_cast<Index>(at);
    const auto length = static_cast<unsigned>(a.row_end(row) - a.row_begin(row));
    atomicAdd(rows + min(length, kCountedLengths - 1u), 1u);
    atomicMax(&longest, length);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kCountedLengths; i += kSpmvThreads) {
    if (rows[i] > 0) atomicAdd(lengths->rows + i, static_cast<unsigned long long>(rows[i]));
  }
  if (threadIdx.x == 0) atomicMax(&lengths->longest, static_cast<unsigned long long>(longest));
}

Lengths lengths_of(const DeviceCsrView<void>& a, DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  const DeviceBuffer<Lengths> lengths(memory, 1, "counting row lengths");
  CHECK_CUDA(cudaMemsetAsync(lengths.data(), 0, sizeof(Lengths), stream));
  if (a.rows > 0) {
    count_lengths<<<spmv_blocks(a.rows), kSpmvThreads, 0, stream>>>(a, lengths.data());
    CHECK_LAUNCH("count_lengths", stream);
  }
  return fetch(lengths.data(), stream);
}

}  // namespace

std::vector<Offset> count_row_lengths(const DeviceCsrView<void>& a, DeviceMemory& memory) {
  const Lengths lengths = lengths_of(a, memory);
  return std::vector<Offset>(std::begin(lengths.rows), std::end(lengths.rows));
}

Offset longest_row(const DeviceCsrView<void>& a, DeviceMemory& memory) {
  return static_cast<Offset>(lengths_of(a, memory).longest);
}

}  // namespace csrkit::gpu

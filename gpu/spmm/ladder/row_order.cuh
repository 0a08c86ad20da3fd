// Rows in the order of their lengths, longest first: the analysis of v6_rows_by_length and v7_bins.
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// Lengths of 127 and below have a bin each, longer ones four per power of two.
inline constexpr int kLengthBins = 256;
inline constexpr int kExactLengths = 128, kExactLog2 = 7;

/// Bins count down from the longest.
__host__ __device__ inline int bin_of_length(Offset length) {
  if (length < kExactLengths) return kLengthBins - 1 - static_cast<int>(length);
  int log2 = kExactLog2;
  while ((length >> log2) > 1) ++log2;
  const int quarter = static_cast<int>(length >> (log2 - 2)) & 3;
  return kLengthBins - 1 - (kExactLengths + 4 * (log2 - kExactLog2) + quarter);
}

namespace ladder {

constexpr int kRowOrderThreads = 256;
constexpr int kRowsPerThread = 4;

inline __global__ void count_lengths(DeviceOffsets offsets, Index rows, unsigned* counts) {
  __shared__ unsigned here[kLengthBins];
  here[threadIdx.x] = 0;
  __syncthreads();
  const Offset first = Offset{blockIdx.x} * kRowOrderThreads * kRowsPerThread;
  for (int i = 0; i < kRowsPerThread; ++i) {
    const Offset row = first + i * kRowOrderThreads + threadIdx.x;
    if (row < rows) atomicAdd(&here[bin_of_length(offsets[row + 1] - offsets[row])], 1u);
  }
  __syncthreads();
  if (here[threadIdx.x] != 0) atomicAdd(&counts[threadIdx.x], here[threadIdx.x]);
}

/// One block; the starts go where they stay and where the rows' places are drawn from.
inline __global__ void start_bins(const unsigned* counts, unsigned* starts, unsigned* next) {
  __shared__ unsigned sums[kLengthBins];
  const unsigned mine = counts[threadIdx.x];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned distance = 1; distance < kLengthBins; distance *= 2) {
    const unsigned before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
    __syncthreads();
    sums[threadIdx.x] += before;
    __syncthreads();
  }
  starts[threadIdx.x] = next[threadIdx.x] = sums[threadIdx.x] - mine;
}

/// Rows of a block stay together in a bin; in which order blocks come differs from run to run,
/// which no result shows, because a row is summed by itself.
inline __global__ void place_rows(DeviceOffsets offsets, Index rows, unsigned* next, Index* order) {
  __shared__ unsigned here[kLengthBins];
  here[threadIdx.x] = 0;
  __syncthreads();
  const Offset first = Offset{blockIdx.x} * kRowOrderThreads * kRowsPerThread;
  int bins[kRowsPerThread];
  unsigned ranks[kRowsPerThread];
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const Offset row = first + i * kRowOrderThreads + threadIdx.x;
    bins[i] = -1;
    if (row < rows) {
      bins[i] = bin_of_length(offsets[row + 1] - offsets[row]);
      ranks[i] = atomicAdd(&here[bins[i]], 1u);
    }
  }
  __syncthreads();
  const unsigned count = here[threadIdx.x];
  if (count != 0) here[threadIdx.x] = atomicAdd(&next[threadIdx.x], count);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    if (bins[i] >= 0) {
      order[here[bins[i]] + ranks[i]] =
          static_cast<Index>(first + i * kRowOrderThreads + threadIdx.x);
    }
  }
}

}  // namespace ladder

/// Where things lie in a workspace: the order, then counts, starts and places.
struct RowOrder {
  static std::uint64_t workspace_bytes(Index rows) {
    return (static_cast<std::uint64_t>(rows) + 3 * kLengthBins) * sizeof(Index);
  }
  static void analyse(const DeviceOffsets& offsets, Index rows, void* workspace,
                      cudaStream_t stream) {
    if (rows == 0) return;
    auto* order = static_cast<Index*>(workspace);
    auto* counts = reinterpret_cast<unsigned*>(order + rows);
    unsigned* starts = counts + kLengthBins;
    unsigned* next = starts + kLengthBins;
    CHECK_CUDA(cudaMemsetAsync(counts, 0, kLengthBins * sizeof(unsigned), stream));
    constexpr Offset kRowsPerBlock = ladder::kRowOrderThreads * ladder::kRowsPerThread;
    const auto blocks = static_cast<unsigned>((rows + kRowsPerBlock - 1) / kRowsPerBlock);
    ladder::count_lengths<<<blocks, kLengthBins, 0, stream>>>(offsets, rows, counts);
    CHECK_LAUNCH("count_lengths", stream);
    ladder::start_bins<<<1, kLengthBins, 0, stream>>>(counts, starts, next);
    CHECK_LAUNCH("start_bins", stream);
    ladder::place_rows<<<blocks, kLengthBins, 0, stream>>>(offsets, rows, next, order);
    CHECK_LAUNCH("place_rows", stream);
  }

  /// How many rows are at least `length` long, a power of two of 128 or more. Waits.
  static Index rows_from(Offset length, Index rows, const void* workspace, cudaStream_t stream) {
    if (rows == 0) return 0;
    unsigned count = 0;
    const auto* starts = static_cast<const unsigned*>(workspace) + rows + kLengthBins;
    CHECK_CUDA(cudaMemcpyAsync(&count, starts + bin_of_length(length) + 1, sizeof count,
                               cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    return static_cast<Index>(count);
  }
};

}  // namespace csrkit::gpu

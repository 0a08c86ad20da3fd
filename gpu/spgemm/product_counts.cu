// product_counts: products per row of C, their sum, their largest, and a bound of nnz(C).
// Owns     8 lanes: one row
// Reads    A's columns 8 at a time, and two offsets of B for each of them: random, 4 or 8 bytes
//          wide, mostly from L2. Three atomics per block.
// Launch   256 threads: 32 rows
// Needs    nothing

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spgemm/product_counts.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 8;
constexpr int kRows = kThreads / kLanes;

__global__ void __launch_bounds__(kThreads)
    count_rows(DeviceCsrView<void> a, DeviceCsrView<void> b, unsigned long long* totals,
               Offset* of_rows) {
  __shared__ unsigned long long products_of_block, longest_of_block, bound_of_block;
  if (threadIdx.x == 0) products_of_block = longest_of_block = bound_of_block = 0;
  __syncthreads();
  const Offset row = Offset{blockIdx.x} * kRows + threadIdx.x / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  Offset products = 0, sources = 0;
  if (row < a.rows) {
    const Offset begin = a.row_begin(static_cast<Index>(row));
    const Offset end = a.row_end(static_cast<Index>(row));
    sources = end - begin;
    for (Offset at = begin + lane; at < end; at += kLanes) {
      const Index from = a.col_indices[at];
      products += b.row_end(from) - b.row_begin(from);
    }
  }
  for (int step = kLanes / 2; step > 0; step /= 2) {
    products += __shfl_down_sync(kAllLanes, products, step, kLanes);
  }
  if (row < a.rows && lane == 0) {
    if (of_rows != nullptr) of_rows[row] = products;
    if (products > 0) {
      atomicAdd(&products_of_block, static_cast<unsigned long long>(products));
      atomicMax(&longest_of_block, static_cast<unsigned long long>(products));
      atomicAdd(&bound_of_block,
                static_cast<unsigned long long>(products < b.cols ? products : Offset{b.cols}));
      if (may_be_hub(sources, products)) {
        atomicAdd(totals + 3, static_cast<unsigned long long>(products));
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && products_of_block > 0) {
    atomicAdd(totals, products_of_block);
    atomicMax(totals + 1, longest_of_block);
    atomicAdd(totals + 2, bound_of_block);
  }
}

}  // namespace

ProductCounts count_products(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                             DeviceMemory& memory, Offset* of_rows) {
  if (a.rows == 0) return {};
  const cudaStream_t stream = memory.stream();
  const DeviceBuffer<unsigned long long> totals(memory, 4, "the number of products");
  CHECK_CUDA(cudaMemsetAsync(totals.data(), 0, totals.size_bytes(), stream));
  const Offset blocks = (Offset{a.rows} + kRows - 1) / kRows;
  count_rows<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(a, b, totals.data(), of_rows);
  CHECK_LAUNCH("count_rows", stream);
  unsigned long long on_host[4] = {};
  CHECK_CUDA(
      cudaMemcpyAsync(on_host, totals.data(), sizeof on_host, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  return {static_cast<Offset>(on_host[0]), static_cast<Offset>(on_host[1]),
          static_cast<Offset>(on_host[2]), static_cast<Offset>(on_host[3])};
}

}  // namespace csrkit::gpu

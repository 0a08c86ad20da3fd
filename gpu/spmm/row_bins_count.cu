// The first passes of row_bins' analysis: how many rows are in each bin, and where each bin begins.

#include <cub/block/block_scan.cuh>

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/row_bins_passes.cuh"

namespace csrkit::gpu::row_bins {

namespace {

constexpr int kThreads = 256;

// Pass 1: rows per (window, bin), and tasks of long rows. A block's rows are in one window:
// kRowsPerBlock divides it.
__global__ void __launch_bounds__(kThreads) count_rows(Shape shape, BinArrays bins) {
  __shared__ Index local[kAllBins];
  if (threadIdx.x < kAllBins) local[threadIdx.x] = 0;
  __syncthreads();
  const Index first = static_cast<Index>(blockIdx.x) * kRowsPerBlock;
  const int window_key = first / shape.window_rows * kBins;
  for (int i = static_cast<int>(threadIdx.x); i < kRowsPerBlock; i += kThreads) {
    if (first + Offset{i} >= shape.rows) break;
    const Offset length = shape.length_of(first + i);
    const int bin = bin_key_of(shape, length);
    atomicAdd(&local[bin], tasks_of(shape, bin, length));
  }
  __syncthreads();
  if (threadIdx.x >= kBins && threadIdx.x < kAllBins) {
    bins.long_starts[(threadIdx.x - kBins) * gridDim.x + blockIdx.x] = local[threadIdx.x];
  }
  if (threadIdx.x < kBins && local[threadIdx.x] > 0) {
    atomicAdd(&bins.counts[window_key + threadIdx.x], local[threadIdx.x]);
  }
}

// Pass 2: counts become starts, and so do the long tasks of blocks. One block; these numbers are few.
constexpr int kScanThreads = 512;
__global__ void __launch_bounds__(kScanThreads)
    scan_counts(Shape shape, BinArrays bins, Totals* totals) {
  using LongScan = cub::BlockScan<Index, kScanThreads>;
  using Scan = cub::BlockScan<BinStart, kScanThreads>;
  __shared__ typename LongScan::TempStorage long_scratch;
  __shared__ typename Scan::TempStorage scratch;
  Index long_tasks = 0;
  const int all = kLongBins * bins.blocks;
  for (int begin = 0; begin < all; begin += kScanThreads) {
    const int block = begin + static_cast<int>(threadIdx.x);
    Index before, total;
    LongScan(long_scratch).ExclusiveSum(block < all ? bins.long_starts[block] : 0, before, total);
    if (block < all) bins.long_starts[block] = long_tasks + before;
    if (block == bins.blocks) {
      totals->block_tasks = static_cast<unsigned long long>(long_tasks + before);
    }
    long_tasks += total;
    __syncthreads();  // long_scratch is used again
  }
  BinStart carry = {long_tasks, 0, 0};
  for (int begin = 0; begin < bins.keys; begin += kScanThreads) {
    const int key = begin + static_cast<int>(threadIdx.x);
    BinStart own = {0, 0, 0};
    if (key < bins.keys) {
      const Offset rows = bins.counts[key];
      const int bin = kBins - 1 - key % kBins;
      own = {whole_warps(rows), 0, 0};
      if (bin <= shape.longest_in_strips) {
        const Index per_strip = rows_per_strip(bin);
        own = {whole_warps((rows + per_strip - 1) / per_strip), rows, rows * bin};
      }
    }
    BinStart before, total;
    Scan(scratch).ExclusiveScan(
        own, before, BinStart{0, 0, 0}, [](const BinStart& a, const BinStart& b) { return a + b; },
        total);
    if (key < bins.keys) bins.starts[key] = carry + before;
    carry = carry + total;
    __syncthreads();  // scratch is used again
  }
  if (threadIdx.x == 0) {
    totals->long_tasks = static_cast<unsigned long long>(long_tasks);
    totals->tasks = static_cast<unsigned long long>(carry.tasks);
  }
}

}  // namespace

void count_and_scan(const Shape& shape, const BinArrays& bins, Totals* totals,
                    cudaStream_t stream) {
  count_rows<<<static_cast<unsigned>(bins.blocks), kThreads, 0, stream>>>(shape, bins);
  CHECK_LAUNCH("count_rows", stream);
  scan_counts<<<1, kScanThreads, 0, stream>>>(shape, bins, totals);
  CHECK_LAUNCH("scan_counts", stream);
}

}  // namespace csrkit::gpu::row_bins

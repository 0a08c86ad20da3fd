#include <algorithm>
#include <array>

#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/bsr/block_rows.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

namespace {

constexpr int kSizes = kLargestBlock - kSmallestBlock + 1;

/// Whether a row has an entry in a block column.
__device__ bool has_entry(const DeviceCsrView<void>& a, Offset row, Index block_col, int size) {
  Offset low = a.row_begin(static_cast<Index>(row));
  const Offset end = a.row_end(static_cast<Index>(row));
  for (Offset high = end; low < high;) {
    const Offset middle = low + (high - low) / 2;
    if (a.col_indices[middle] < block_col * size) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < end && a.col_indices[low] / size == block_col;
}

/// The blocks of some block rows, and the entries in them.
struct Counted {
  unsigned long long blocks, entries;
};

/// Of one block row, columns below `end_col`, in all lanes of a warp. A block is
/// counted at its first entry: where neither the entry before it in its row nor a row above lies in
/// that block. So lanes share a long row.
__device__ Counted count_by_warp(const DeviceCsrView<void>& a, Offset block_row, int size,
                                 Index end_col) {
  const Offset first = block_row * size, last = min(first + size, Offset{a.rows});
  unsigned blocks = 0, entries = 0;
  for (Offset row = first; row < last; ++row) {
    const Offset begin = a.row_begin(static_cast<Index>(row));
    const Offset end = a.row_end(static_cast<Index>(row));
    for (Offset at = begin + threadIdx.x % kWarpLanes; at < end; at += kWarpLanes) {
      const Index col = a.col_indices[at], block_col = col / size;
      if (col >= end_col) break;
      ++entries;
      bool is_first = at == begin || a.col_indices[at - 1] / size != block_col;
      for (Offset above = first; is_first && above < row; ++above) {
        is_first = !has_entry(a, above, block_col, size);
      }
      if (is_first) ++blocks;
    }
  }
  return {__reduce_add_sync(kAllLanes, blocks), __reduce_add_sync(kAllLanes, entries)};
}

/// One warp per block row.
__global__ void count_blocks(DeviceCsrView<void> a, int size, Offset block_rows, Offset* counts) {
  const Offset block_row = (Offset{blockIdx.x} * kSpmvThreads + threadIdx.x) / kWarpLanes;
  if (block_row >= block_rows) return;
  const Counted counted = count_by_warp(a, block_row, size, kMaxIndex);
  if (threadIdx.x % kWarpLanes == 0) counts[block_row] = static_cast<Offset>(counted.blocks);
}

/// How much of A is looked at: block rows, at equal distances if A has more of them, and of each
/// about as many entries of its first row.
struct Sample {
  Offset block_rows, entries;
};

/// One warp per block row that is looked at; a row of thread blocks for each size.
__global__ void count_sizes(DeviceCsrView<void> a, Sample sample, Counted* counted) {
  __shared__ Counted of_block;
  if (threadIdx.x == 0) of_block = {};
  __syncthreads();
  const int size = kSmallestBlock + static_cast<int>(blockIdx.y);
  const Offset block_rows = (Offset{a.rows} + size - 1) / size;
  const Offset looked = min(sample.block_rows, block_rows);
  const Offset number = (Offset{blockIdx.x} * kSpmvThreads + threadIdx.x) / kWarpLanes;
  if (number < looked) {
    const Offset block_row = number * block_rows / looked;
    const auto row = static_cast<Index>(block_row * size);
    const Offset last = a.row_begin(row) + sample.entries;
    const Index end_col = last < a.row_end(row) ? a.col_indices[last] : kMaxIndex;
    const Counted own = count_by_warp(a, block_row, size, end_col);
    if (threadIdx.x % kWarpLanes == 0) {
      atomicAdd(&of_block.blocks, own.blocks);
      atomicAdd(&of_block.entries, own.entries);
    }
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(&counted[blockIdx.y].blocks, of_block.blocks);
  atomicAdd(&counted[blockIdx.y].entries, of_block.entries);
}

/// By each size, from the smallest. Waits.
std::array<Counted, kSizes> count_in(const DeviceCsrView<void>& a, Sample sample,
                                     DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  const DeviceBuffer<std::array<Counted, kSizes>> counted(memory, 1, "blocks of each size");
  CHECK_CUDA(cudaMemsetAsync(counted.data(), 0, counted.size_bytes(), stream));
  const Offset looked =
      std::min(sample.block_rows, (Offset{a.rows} + kSmallestBlock - 1) / kSmallestBlock);
  if (looked > 0) {
    count_sizes<<<dim3(spmv_blocks(looked * kWarpLanes), kSizes), kSpmvThreads, 0, stream>>>(
        a, sample, reinterpret_cast<Counted*>(counted.data()));
    CHECK_LAUNCH("count_sizes", stream);
  }
  return fetch(counted.data(), stream);
}

/// Of one block: values in full, its column and its mask.
std::uint64_t bytes_of_one(int size, int value_bytes) {
  return static_cast<std::uint64_t>(size * size * value_bytes) + sizeof(Index) +
         sizeof(std::uint16_t);
}

}  // namespace

std::uint64_t block_bytes(const BlockCount& count, Index rows, int value_bytes) {
  const auto block_rows = static_cast<std::uint64_t>((Offset{rows} + count.size - 1) / count.size);
  return static_cast<std::uint64_t>(count.blocks) * bytes_of_one(count.size, value_bytes) +
         (block_rows + 1) * sizeof(Offset);
}

DeviceBuffer<Offset> block_row_starts(const DeviceCsrView<void>& a, int size,
                                      DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  const Offset block_rows = (Offset{a.rows} + size - 1) / size;
  DeviceBuffer<Offset> starts(memory, block_rows + 1, "starts of block rows");
  CHECK_CUDA(cudaMemsetAsync(starts.data(), 0, starts.size_bytes(), stream));
  if (block_rows == 0) return starts;
  count_blocks<<<spmv_blocks(block_rows * kWarpLanes), kSpmvThreads, 0, stream>>>(
      a, size, block_rows, starts.data());
  CHECK_LAUNCH("count_blocks", stream);
  exclusive_sum(memory, starts.data(), starts.size());
  return starts;
}

BlockCount best_blocks(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory) {
  const auto counted = count_in(a, {a.rows, a.nnz}, memory);
  BlockCount best;
  for (int size = kSmallestBlock; size <= kLargestBlock; ++size) {
    const auto& of_size = counted[static_cast<std::size_t>(size - kSmallestBlock)];
    const BlockCount count = {size, static_cast<Offset>(of_size.blocks)};
    if (best.size == 0 ||
        block_bytes(count, a.rows, value_bytes) < block_bytes(best, a.rows, value_bytes)) {
      best = count;
    }
  }
  return best;
}

bool may_pay_blocks(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory) {
  constexpr Sample kSample = {1024, 128};
  constexpr double kMostOfCsr = 1.2;  // a sample errs
  const double of_an_entry = static_cast<double>(sizeof(Index)) + value_bytes;
  const auto counted = count_in(a, kSample, memory);
  for (int size = kSmallestBlock; size <= kLargestBlock; ++size) {
    const auto& of_size = counted[static_cast<std::size_t>(size - kSmallestBlock)];
    const double bytes = static_cast<double>(of_size.blocks * bytes_of_one(size, value_bytes));
    if (bytes <= kMostOfCsr * of_an_entry * static_cast<double>(of_size.entries)) return true;
  }
  return false;
}

}  // namespace csrkit::gpu

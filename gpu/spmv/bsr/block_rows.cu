#include "gpu/device/cuda_check.h"
#include "gpu/device/scan_and_sort.h"
#include "gpu/spmv/bsr/block_rows.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

namespace {

/// One thread per block row.
__global__ void count_blocks(DeviceCsrView<void> a, int size, Offset block_rows, Offset* counts) {
  const Offset block_row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (block_row >= block_rows) return;
  Offset blocks = 0;
  for_each_block(a, block_row, size, [&](Index, const Offset*, const Offset*) { ++blocks; });
  counts[block_row] = blocks;
}

}  // namespace

std::uint64_t block_bytes(const BlockCount& count, Index rows, int value_bytes) {
  const auto per_block = static_cast<std::uint64_t>(count.size * count.size * value_bytes) +
                         sizeof(Index) + sizeof(std::uint16_t);
  const auto block_rows = static_cast<std::uint64_t>((Offset{rows} + count.size - 1) / count.size);
  return static_cast<std::uint64_t>(count.blocks) * per_block + (block_rows + 1) * sizeof(Offset);
}

DeviceBuffer<Offset> block_row_starts(const DeviceCsrView<void>& a, int size,
                                      DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  const Offset block_rows = (Offset{a.rows} + size - 1) / size;
  DeviceBuffer<Offset> starts(memory, block_rows + 1, "starts of block rows");
  CHECK_CUDA(cudaMemsetAsync(starts.data(), 0, starts.size_bytes(), stream));
  if (block_rows == 0) return starts;
  count_blocks<<<spmv_blocks(block_rows), kSpmvThreads, 0, stream>>>(a, size, block_rows,
                                                                     starts.data());
  CHECK_LAUNCH("count_blocks", stream);
  exclusive_sum(memory, starts.data(), starts.size());
  return starts;
}

BlockCount best_blocks(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory) {
  BlockCount best;
  for (const int size : kBlockSizes) {
    const DeviceBuffer<Offset> starts = block_row_starts(a, size, memory);
    const BlockCount count = {size, fetch(starts.data() + starts.size() - 1, memory.stream())};
    if (best.size == 0 ||
        block_bytes(count, a.rows, value_bytes) < block_bytes(best, a.rows, value_bytes)) {
      best = count;
    }
  }
  return best;
}

}  // namespace csrkit::gpu

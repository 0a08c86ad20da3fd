#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/spmv/csr_balanced/pieces.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

namespace {

/// One thread per boundary: finds the last row that begins at or before its position.
__global__ void place_pieces(DeviceCsrView<void> a, PieceMap map, PieceStart* starts) {
  const Offset piece = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (piece > map.count) return;
  const Offset position = min(piece * map.size, map.total);
  Index low = 0, high = a.rows;
  while (low < high) {
    const Index middle = high - (high - low) / 2;
    if (a.row_begin(middle) + middle <= position) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  PieceStart start = {a.row_begin(low), low, 0};
  const Offset skipped = position - (start.entry + low);
  if (skipped > 0 && low < a.rows && a.row_end(low) - start.entry + 1 > map.size / 2) {
    start.entry += skipped;
    start.cuts = 1;
  }
  starts[piece] = start;
}

/// One thread per piece: the largest room for products and row offsets.
__global__ void measure_pieces(PieceMap map, unsigned number_bytes, unsigned* most) {
  const Offset piece = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (piece >= map.count) return;
  const PieceStart &start = map.starts[piece], &next = map.starts[piece + 1];
  const auto entries = static_cast<unsigned>(next.entry - start.entry);
  const auto rows = static_cast<unsigned>(next.row - start.row + next.cuts);
  atomicMax(most, entries * number_bytes + (rows + 1) * static_cast<unsigned>(sizeof(int)));
}

}  // namespace

void Pieces::make(const DeviceCsrView<void>& a, int number_bytes, DeviceMemory& memory) {
  // As many pieces as the device holds blocks, if these are small enough; else as many as needed of
  // the size that a block has in flight at once (docs/lab/2026-11-22-spmv-h200.md).
  constexpr Offset kSmallest = 256, kUsual = 512, kLargest = balanced::kLargestPiece,
                   kBlocks = 132 * balanced::kBlocksAtOnce;
  map_.total = a.nnz + a.rows;
  const Offset even = (map_.total / kBlocks + kWarpLanes) / kWarpLanes * kWarpLanes;
  map_.size = static_cast<int>(even > kLargest ? kUsual : std::max(even, kSmallest));
  map_.count = (map_.total + map_.size - 1) / map_.size;
  starts_ = DeviceBuffer<PieceStart>(memory, map_.count + 1, "where pieces begin");
  parts_ = DeviceBuffer<std::byte>(memory, map_.count * 2 * number_bytes, "parts of cut rows");
  arrivals_ = DeviceBuffer<unsigned>(memory, map_.count, "counters of cut rows");
  map_.starts = starts_.data();
  if (map_.count == 0) return;
  const cudaStream_t stream = memory.stream();
  CHECK_CUDA(cudaMemsetAsync(arrivals_.data(), 0, arrivals_.size_bytes(), stream));
  place_pieces<<<spmv_blocks(map_.count + 1), kSpmvThreads, 0, stream>>>(a, map_, starts_.data());
  CHECK_LAUNCH("place_pieces", stream);
  const DeviceBuffer<unsigned> most(memory, 1, "the largest piece");
  CHECK_CUDA(cudaMemsetAsync(most.data(), 0, most.size_bytes(), stream));
  measure_pieces<<<spmv_blocks(map_.count), kSpmvThreads, 0, stream>>>(
      map_, static_cast<unsigned>(number_bytes), most.data());
  CHECK_LAUNCH("measure_pieces", stream);
  const auto scratch = static_cast<unsigned>(balanced::kThreads * number_bytes);
  shared_bytes_ = std::max(fetch(most.data(), stream), scratch);
}

}  // namespace csrkit::gpu

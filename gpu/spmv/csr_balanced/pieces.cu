#include "gpu/spmv/csr_balanced/csr_balanced.cuh"

namespace csrkit::gpu {

namespace {

/// One thread per boundary: the last row that begins at or before its position.
__global__ void place_pieces(DeviceCsrView<void> a, PieceMap map, Index* first_rows) {
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
  first_rows[piece] = low;
}

}  // namespace

void PieceStarts::make(const DeviceCsrView<void>& a, DeviceMemory& memory, Offset part_bytes) {
  // Pieces as large as leaves every multiprocessor some blocks to choose from.
  constexpr int kSmallest = 256, kLargest = balanced::kLargestPiece;
  constexpr Offset kWantedBlocks = 132 * 12;
  map_.total = a.nnz + a.rows;
  map_.size = kLargest;
  while (map_.size > kSmallest && map_.total / map_.size < kWantedBlocks) map_.size /= 2;
  map_.count = (map_.total + map_.size - 1) / map_.size;
  first_rows_ = DeviceBuffer<Index>(memory, map_.count + 1, "the first rows of pieces");
  parts_ = DeviceBuffer<std::byte>(memory, map_.count * part_bytes, "parts of cut rows");
  arrivals_ = DeviceBuffer<unsigned>(memory, map_.count, "counters of cut rows");
  map_.first_rows = first_rows_.data();
  if (map_.count == 0) return;
  const cudaStream_t stream = memory.stream();
  CHECK_CUDA(cudaMemsetAsync(arrivals_.data(), 0, arrivals_.size_bytes(), stream));
  place_pieces<<<spmv_blocks(map_.count + 1), kSpmvThreads, 0, stream>>>(a, map_,
                                                                         first_rows_.data());
  CHECK_LAUNCH("place_pieces", stream);
}

}  // namespace csrkit::gpu

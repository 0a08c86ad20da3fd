// How csr_balanced cuts a matrix.
#pragma once

#include "gpu/device/device_csr.h"
#include "gpu/device/warp.cuh"

namespace csrkit::gpu {

namespace balanced {

inline constexpr int kThreads = 128, kWarps = kThreads / kWarpLanes;
/// Blocks that a multiprocessor must hold.
inline constexpr int kBlocksAtOnce = 16;
inline constexpr int kLargestPiece = 768;

}  // namespace balanced

/// Where a piece begins, as a block reads it: one load of 16 bytes.
struct alignas(16) PieceStart {
  Offset entry;       // the first of the piece
  Index row;          // which has that entry; entries of rows before it lie before it
  std::int32_t cuts;  // 1: the row is cut here, so a part of it lies before this piece
};

/// How the work positions 0 ... nnz + rows are cut into pieces of `size`. Row r owns the positions
/// begin(r) + r ... end(r) + r: one for each entry, then one for itself. A row with more than half
/// of `size` positions is cut where the boundaries fall; any other belongs to the piece of its last
/// position. So no piece has more than one and a half sizes: what shared memory takes, L1 lacks.
struct PieceMap {
  Offset count = 0;
  int size = 0;
  Offset total = 0;
  const PieceStart* starts = nullptr;  // count + 1
};

/// The pieces of a matrix, on the device.
class Pieces {
 public:
  /// Waits. `number_bytes`: of a product.
  void make(const DeviceCsrView<void>& a, int number_bytes, DeviceMemory& memory);

  const PieceMap& map() const { return map_; }
  std::uint64_t bytes() const { return starts_.size_bytes(); }
  std::uint32_t shared_bytes() const { return shared_bytes_; }  // what a block needs
  void* parts() const { return parts_.data(); }
  unsigned* arrivals() const { return arrivals_.data(); }

 private:
  PieceMap map_;
  std::uint32_t shared_bytes_ = 0;
  DeviceBuffer<PieceStart> starts_;
  DeviceBuffer<std::byte> parts_;
  DeviceBuffer<unsigned> arrivals_;
};

}  // namespace csrkit::gpu

// How jagged cuts a matrix: rows into segments, segments into pieces of a block each.
#pragma once

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

namespace jagged {

inline constexpr int kThreads = 256, kWarps = 8;
/// Rows of a piece: more than it has segments, as empty rows have none.
inline constexpr Index kMostRows = 512;

}  // namespace jagged

/// Entries of the longest segment: about those of a row, but few enough to fill the machine.
inline int segment_height(Index rows, Offset nnz) {
  constexpr Offset kLanes = 200'000;  // an H200 holds 270,000
  constexpr int kLowest = 4, kHighest = 16;
  int height = kLowest;
  while (height < kHighest && height * Offset{rows} < nnz && nnz / height + rows / 2 > kLanes) {
    height *= 2;
  }
  return height;
}

/// What a jagged matrix takes, about; `value_bytes` is 0 where there are no values.
inline std::uint64_t jagged_bytes(Index rows, Offset nnz, int value_bytes) {
  const Offset segments = nnz / segment_height(rows, nnz) + rows / 2;
  return static_cast<std::uint64_t>(nnz * (Offset{sizeof(Index)} + value_bytes) +
                                    (Offset{rows} + segments) * 2 + segments / 3);
}

/// What a block does, read in one load.
struct alignas(16) JaggedPiece {
  Index row;          // the first
  Index rows;         // that end in this piece; 0: it is a part of one row, which is cut
  Index first_piece;  // of that row
  Index piece_count;
};

/// The segment of one lane: how many entries it has, and its number among those of the piece.
struct JaggedLane {
  std::uint8_t length;
  std::uint8_t number;
};

/// The structure of a jagged matrix, in device memory. A row of n entries has ceil(n / height)
/// segments, as even as can be. A piece has at most kThreads of them, all segments of its rows;
/// only rows that have more are cut. Within a piece segments are sorted by length, longest first,
/// and each lane of a warp gets one. The entries of a warp lie side by side step by step, without
/// padding: those of the first step, one for each lane, then as many as lanes have a second entry.
/// So the entries of a piece are those of its rows, in another order.
class JaggedPieces {
 public:
  /// Waits. `height` is at most 255.
  void make(const DeviceCsrView<void>& a, int height, DeviceMemory& memory);

  struct View {
    Index count = 0;
    const JaggedPiece* pieces = nullptr;          // count
    const JaggedLane* lanes = nullptr;            // kThreads a piece
    const Offset* warp_starts = nullptr;          // kWarps a piece: the first entry
    const std::uint16_t* segment_ends = nullptr;  // of each row, in its piece
  };
  View view() const {
    return {static_cast<Index>(pieces_.size()), pieces_.data(), lanes_.data(), warp_starts_.data(),
            segment_ends_.data()};
  }
  std::uint64_t bytes() const {
    return pieces_.size_bytes() + lanes_.size_bytes() + warp_starts_.size_bytes() +
           segment_ends_.size_bytes();
  }

  /// Puts entries in the order of lanes; `value_bytes` is 0 where there are no values.
  void store(const DeviceCsrView<void>& a, int value_bytes, Index* cols, void* values,
             cudaStream_t stream) const;

 private:
  DeviceBuffer<JaggedPiece> pieces_;
  DeviceBuffer<JaggedLane> lanes_;
  DeviceBuffer<Offset> warp_starts_;
  DeviceBuffer<std::uint16_t> segment_ends_;
  DeviceBuffer<Offset> entry_of_lane_;  // where the segment of a lane begins in A, until store
};

}  // namespace csrkit::gpu

// How jagged cuts a matrix: rows into segments, segments into pieces of a block each.
#pragma once

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

namespace jagged {

inline constexpr int kThreads = 256, kWarps = 8;
/// Rows of a piece: more than it has segments, as empty rows have none.
inline constexpr Index kMostRows = 512;
/// Entries of the longest segment.
inline constexpr int kLowest = 4, kMiddle = 8, kHighest = 16;
/// Blocks that a multiprocessor holds, by the entries that a lane asks for at once: 32 registers a
/// lane for 4 of them, and 48 for 8.
constexpr int blocks_at_once(int at_once) { return at_once == 4 ? 8 : 5; }

}  // namespace jagged

/// Entries of the longest segment, before it is known how many pieces there are: about those of a
/// row, but few enough to fill the machine.
inline int segment_height(Index rows, Offset nnz) {
  constexpr Offset kLanes = 200'000;  // an H200 holds 270,000
  int height = jagged::kLowest;
  while (height < jagged::kHighest && height * Offset{rows} < nnz &&
         nnz / height + rows / 2 > kLanes) {
    height *= 2;
  }
  return height;
}

/// How a matrix is cut, and how many entries a lane asks for at once.
struct JaggedShape {
  int height;
  int at_once;
  bool operator==(const JaggedShape& other) const {
    return height == other.height && at_once == other.at_once;
  }
};

/// The shape of a matrix that has so many pieces at its segment_height. Segments of 4 entries stay
/// as they are. All blocks take about as long, so what does not fit beside the others takes as long
/// as all of them: pieces that fit in one round stay as they are, with 8 entries at once, or with 4
/// if only then all fit. Of several rounds the last is the shorter the lower segments are, and with
/// 8 at once a low one waits only once for its columns and once for x. Long rows have so many low
/// ones that a block's own start counts more, so theirs stay high
/// (docs/lab/2026-11-26-spmv-waves.md).
inline JaggedShape jagged_shape(Index rows, Offset nnz, Offset pieces, int multiprocessors) {
  constexpr Offset kLongMean = 24;
  const int height = segment_height(rows, nnz);
  if (height == jagged::kLowest) return {height, 4};
  if (pieces <= Offset{jagged::blocks_at_once(8)} * multiprocessors) return {height, 8};
  if (pieces <= Offset{jagged::blocks_at_once(4)} * multiprocessors) return {height, 4};
  return {nnz >= kLongMean * rows ? height : jagged::kMiddle, 8};
}

/// The lowest segments that jagged_shape may want: of these there are most.
inline int lowest_segments(Index rows, Offset nnz) {
  const int height = segment_height(rows, nnz);
  return height < jagged::kMiddle ? height : jagged::kMiddle;
}

/// What a jagged matrix takes, about, at its segment_height; `value_bytes` is 0 where there are no
/// values.
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
/// segments, as even as can be, to which its entries are dealt out one by one: neighbours, which
/// often share a sector of x, are read by neighbouring lanes at the same time. A piece has at most
/// kThreads segments: all those of its rows; only rows that have more are cut. Within a piece
/// segments are sorted by length, longest first, and each lane of a warp gets one. The entries of a
/// warp lie side by side step by step, without padding: those of the first step, one for each lane,
/// then as many as lanes have a second entry. So the entries of a piece are those of its rows, in
/// another order.
class JaggedPieces {
 public:
  /// Waits. Says what shape it gave them.
  JaggedShape make(const DeviceCsrView<void>& a, DeviceMemory& memory, int multiprocessors);

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
  // The first entry in A of each lane's segment, and how far apart its entries are: until store.
  DeviceBuffer<Offset> entry_of_lane_;
  DeviceBuffer<Index> stride_of_lane_;
};

}  // namespace csrkit::gpu

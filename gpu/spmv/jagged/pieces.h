// How jagged cuts a matrix: rows into segments, segments into pieces of a block each.
#pragma once

#include <algorithm>

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

namespace jagged {

inline constexpr int kThreads = 256, kWarps = 8;
/// The most rows of a piece; more than its segments, as empty rows have none.
inline constexpr Index kMostRows = 512;
/// Entries of the longest segment.
inline constexpr int kLowest = 4, kMiddle = 8, kHighest = 16;
/// Segments are padded if that adds at most so many places, or at most that share of the entries.
inline constexpr Offset kMostPadding = 250'000;
inline constexpr double kMostPaddingShare = 0.6;
/// The number of columns that 16 bits distinguish.
inline constexpr Index kNarrowCols = 1 << 16;
/// The share of L2 that holds a part of A from product to product.
inline constexpr double kKeptOfL2 = 0.46;
/// The most entries of a row that is not long.
inline constexpr Offset kMostOfAShortRow = 64;
/// Blocks per multiprocessor, by a lane's entries in flight: 32 registers a lane for 4 of them, 48
/// for 8.
constexpr int blocks_at_once(int at_once) { return at_once == 4 ? 8 : 5; }
/// The same where segments are padded: 40 registers a lane, or 64.
constexpr int padded_blocks(int height) { return height == 4 ? 6 : 4; }

#ifdef __CUDACC__
/// Elements of a padded segment that a lane loads by one instruction.
__host__ __device__ constexpr int padded_width(int height, int element_bytes) {
  constexpr int kMostBytes = 16;
  return height * element_bytes < kMostBytes ? height : kMostBytes / element_bytes;
}
/// The position of entry `step` of the lane at `place`: what a warp loads at once is contiguous.
__device__ constexpr Offset padded_place(Offset place, int step, int height, int width) {
  constexpr int kLanes = 32;
  return (place / kLanes * height + step / width * width) * kLanes + place % kLanes * width +
         step % width;
}
#endif

}  // namespace jagged

/// The height (entries of the longest segment) to begin with: about the entries of a row, but low
/// enough to fill the device.
inline int segment_height(Index rows, Offset nnz) {
  constexpr Offset kLanes = 200'000;  // an H200 holds 270,000
  int height = jagged::kLowest;
  while (height < jagged::kHighest && height * Offset{rows} < nnz &&
         nnz / height + rows / 2 > kLanes) {
    height *= 2;
  }
  return height;
}

/// The shape of a cut: its height, a lane's entries in flight, and whether segments are padded to
/// the height.
struct JaggedShape {
  int height;
  int at_once;
  bool is_padded = false;
  bool operator==(const JaggedShape& other) const {
    return height == other.height && at_once == other.at_once && is_padded == other.is_padded;
  }
};

/// Counts of a cut.
struct JaggedCounts {
  Offset pieces = 0;
  Offset entries_of_long_rows = 0;
};

/// The shape without padding of a matrix that has so many pieces at its segment_height. Segments of
/// 4 entries stay as they are. All blocks take as long, so what does not fit beside the others
/// takes as long as all of them: pieces that fit in one round stay as they are, with 8 entries at
/// once, or with 4 if only then all fit. Of several rounds the last is the shorter the lower
/// segments are, and with 8 at once a low one waits only once for its columns and once for x. Where
/// rows are not short there are so many low ones that a block's own start counts more, so theirs
/// stay high (docs/lab/2026-11-26-spmv-waves.md).
inline JaggedShape sorted_jagged_shape(Index rows, Offset nnz, Offset pieces, int multiprocessors) {
  constexpr Offset kShortMean = 24;
  const int height = segment_height(rows, nnz);
  if (height == jagged::kLowest) return {height, 4};
  if (pieces <= Offset{jagged::blocks_at_once(8)} * multiprocessors) return {height, 8};
  if (pieces <= Offset{jagged::blocks_at_once(4)} * multiprocessors) return {height, 4};
  return {nnz >= kShortMean * rows ? height : jagged::kMiddle, 8};
}

/// The same with a lower bound of the pieces: if these already are several rounds, the shape is
/// final.
inline JaggedShape sorted_jagged_shape(Index rows, Offset nnz, int multiprocessors) {
  const Offset segments = nnz / segment_height(rows, nnz);
  return sorted_jagged_shape(rows, nnz, segments / jagged::kThreads, multiprocessors);
}

/// The shape to begin with, before rows are cut: padded, but for wide values where rows are long,
/// of which low segments are too many and high ones too many bytes
/// (docs/lab/2026-11-26-spmv-kept.md).
inline JaggedShape first_jagged_shape(Index rows, Offset nnz, int value_bytes,
                                      int multiprocessors) {
  constexpr int kWideValue = 8;
  constexpr Offset kLongMean = 48;
  constexpr Offset kOfABlock = Offset{jagged::kThreads} * jagged::kLowest;
  if (segment_height(rows, nnz) == jagged::kLowest) {
    const bool is_shared = nnz > kOfABlock * rows && nnz <= 2 * kOfABlock * rows;
    if (is_shared) return {jagged::kMiddle, 8, true};
    return {jagged::kLowest, 4, true};
  }
  if (value_bytes < kWideValue) return {jagged::kMiddle, 8, true};
  if (nnz < kLongMean * rows) return {jagged::kLowest, 4, true};
  return sorted_jagged_shape(rows, nnz, multiprocessors);
}

/// The shape of a matrix that was cut in the shape `before`. If its height is another one, rows
/// must be cut anew, and this be asked again. What is padded stays so where few places are without
/// an entry and segments are not lower than long rows want them.
inline JaggedShape jagged_shape(JaggedShape before, Index rows, Offset nnz,
                                const JaggedCounts& counts, int multiprocessors) {
  constexpr double kMostOfLongRows = 0.4;
  const int height = segment_height(rows, nnz);
  if (before.is_padded) {
    const auto entries = static_cast<double>(nnz);
    const auto padding =
        static_cast<double>(counts.pieces * jagged::kThreads * before.height) - entries;
    const bool is_little = padding <= std::max(static_cast<double>(jagged::kMostPadding),
                                               jagged::kMostPaddingShare * entries);
    const bool is_too_low =
        before.height == jagged::kLowest && height > jagged::kLowest &&
        static_cast<double>(counts.entries_of_long_rows) > kMostOfLongRows * entries;
    if (is_little && !is_too_low) return before;
    if (before.height != height) return sorted_jagged_shape(rows, nnz, multiprocessors);
  }
  if (before.height != height) return before;
  return sorted_jagged_shape(rows, nnz, counts.pieces, multiprocessors);
}

/// The work of a block; one load.
struct alignas(16) JaggedPiece {
  Index row;          // the first
  Index rows;         // that end in this piece; 0: the piece is a part of one cut row
  Index first_piece;  // of that row
  Index piece_count;
};

/// The segment of one lane: its number of entries, and its number in the piece.
struct JaggedLane {
  std::uint8_t length;
  std::uint8_t number;
};

/// The structure of a jagged matrix, in device memory. A row of n entries has ceil(n / height)
/// segments, as even as can be, to which its entries are dealt out one by one: neighbours, which
/// often share a sector of x, are read by neighbouring lanes at the same time. A piece has at most
/// kThreads segments: all those of its rows; only rows that have more are cut. Each lane of a block
/// gets one. Padded segments have their places by padded_place; behind the last entry its column
/// stands again, and a segment without entries has 1 and then 0. Else segments of a piece are
/// sorted by length, longest first; the entries of a warp lie side by side step by step: those of
/// the first step, one for each lane, then as many as have a second entry. So the entries of a
/// piece are those of its rows, in another order.
class JaggedPieces {
 public:
  /// Waits.
  void make(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory,
            int multiprocessors);

  struct View {
    Index count = 0;
    const JaggedPiece* pieces = nullptr;          // count
    const JaggedLane* lanes = nullptr;            // kThreads a piece
    const Offset* warp_starts = nullptr;          // kWarps a piece: the first entry
    const std::uint16_t* segment_ends = nullptr;  // of each row, in its piece
    const Index* first_cols = nullptr;            // count; null: columns are stored as they are
#ifdef __CUDACC__
    /// The base of a piece's stored columns.
    __device__ Index first_col(unsigned piece) const {
      return first_cols == nullptr ? 0 : __ldg(first_cols + piece);
    }
#endif
  };
  View view() const {
    return {static_cast<Index>(pieces_.size()),
            pieces_.data(),
            lanes_.data(),
            warp_starts_.data(),
            segment_ends_.data(),
            first_cols_.data()};
  }
  JaggedShape shape() const { return shape_; }
  /// Places for the columns and values of `nnz` entries.
  Offset places(Offset nnz) const {
    return shape_.is_padded ? pieces_.size() * jagged::kThreads * shape_.height : nnz;
  }
  /// Whether columns take 16 bits: those of A, or of every piece, span few enough.
  bool is_narrow() const { return is_narrow_; }
  /// Bytes that a product reads beside columns and values.
  std::uint64_t bytes() const {
    const std::uint64_t of_lanes =
        shape_.is_padded ? 0 : lanes_.size_bytes() + warp_starts_.size_bytes();
    return of_lanes + pieces_.size_bytes() + segment_ends_.size_bytes() + first_cols_.size_bytes();
  }

  /// Stores entries in the order of lanes. `value_bytes` is 0 where there are no values; `cols` are
  /// std::uint16_t or Index.
  void store(const DeviceCsrView<void>& a, int value_bytes, void* cols, void* values,
             cudaStream_t stream);

 private:
  JaggedShape shape_ = {};
  DeviceBuffer<JaggedPiece> pieces_;
  DeviceBuffer<JaggedLane> lanes_;
  DeviceBuffer<Offset> warp_starts_;
  DeviceBuffer<std::uint16_t> segment_ends_;
  DeviceBuffer<Index> first_cols_;
  bool is_narrow_ = false;
  // The first entry in A of each lane's segment, and how far apart its entries are: until store.
  DeviceBuffer<Offset> entry_of_lane_;
  DeviceBuffer<Index> stride_of_lane_;
};

}  // namespace csrkit::gpu

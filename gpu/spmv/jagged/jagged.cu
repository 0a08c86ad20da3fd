// jagged: rows cut into segments of few entries, a lane each; for rows of different lengths.
// Owns     columns and values in the order in which lanes read them (padded segments, or jagged
//          diagonals of 32 sorted ones), and the work of each block and, if sorted, of each lane;
//          columns in 16 bits where those of each piece are near each other
// Reads    every entry once, 16 bytes a lane at once where segments are padded, else a request of
//          up to 256 bytes in sequence; 2 bytes a row and 2 a sorted lane in the place of row
//          offsets. A share of A is loaded so that it stays in L2 for the next product
// Launch   one thread per segment, with 4 or 8 entries in flight: columns and values, then x;
//          sorted lanes first load their work, one more dependent load. Sums of segments go to
//          shared memory, where the lanes of a block add up its rows in a fixed order. A row of
//          more than 256 segments takes several blocks, of which the last adds up all parts: the
//          same bits in every run, without a second kernel or float atomics. Of a matrix x a lane
//          takes up to four columns at once (f32 and f64 with plus and times; else one)
// Needs    a copy of A
// Source   jagged diagonals: Saad, Krylov subspace methods on supercomputers, SIAM J. Sci. Stat.
//          Comput. 1989; long rows cut into several short ones and the sort within a block are
//          this file's own
// Against  csr_balanced, sell; vendor_cusparse

#include <algorithm>
#include <string>

#include "core/base/counted.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/partly_kept.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/device_spmv.h"
#include "gpu/spmv/jagged/pieces.h"

namespace csrkit::gpu {

namespace {

using jagged::kThreads, jagged::kWarps;

/// The most segments of a row for each of its lanes; rows with more get a warp.
constexpr int kMostOfALane = 16;

/// The logarithm of the lanes that add up a row: the threads of a block, shared out among the rows
/// of its piece, at most a warp each.
__device__ int log_lanes_per_row(Index rows) {
  constexpr int kOfWarp = 5, kOfBlock = 8;
  static_assert(kWarpLanes == 1 << kOfWarp && kThreads == 1 << kOfBlock);
  return max(min(__clz(rows - 1) - (32 - kOfBlock), kOfWarp), 0);
}

/// The sum over the lanes of a warp, in all of them.
template <class Number, class Algebra>
__device__ Number sum_of_warp(Number sum, const Algebra& algebra) {
#pragma unroll
  for (int apart = kWarpLanes / 2; apart > 0; apart /= 2) {
    sum = algebra.add(sum, __shfl_xor_sync(kAllLanes, sum, apart));
  }
  return sum;
}

/// The sum of `count` numbers, the same in all lanes of the warp.
template <class Number, class Algebra>
__device__ Number sum_of_many(const Number* numbers, int count, const Algebra& algebra) {
  Number sum = algebra.empty_sum();
  for (int i = static_cast<int>(threadIdx.x % kWarpLanes); i < count; i += kWarpLanes) {
    sum = algebra.add(sum, numbers[i]);
  }
  return sum_of_warp(sum, algebra);
}

/// The range of the sums of a row's segments.
struct SegmentsOfRow {
  std::uint16_t begin, end;
};

/// The most columns that a lane takes at once.
constexpr int kMostCols = 4;

/// The sums of a block's segments, column by column.
template <class Number, int kCols>
using SumsOfSegments = Number[kCols][kThreads];

/// The first warp of a block stores its parts of a cut row, one for each column. The last block to
/// come adds up all parts.
template <class Types, int kCols, class Algebra>
__device__ void bring_part(const JaggedPiece& piece,
                           const SumsOfSegments<typename Types::Number, kCols>& sums,
                           typename Types::Number* parts, unsigned* arrivals,
                           const OutputUpdate<Types>& y, const Algebra& algebra) {
  using Number = typename Types::Number;
#pragma unroll
  for (int j = 0; j < kCols; ++j) {
    const Number part = sum_of_many(sums[j], kThreads, algebra);
    if (threadIdx.x == 0) parts[Offset{blockIdx.x} * kCols + j] = part;
  }
  unsigned arrived = 0;
  if (threadIdx.x == 0) {
    __threadfence();
    arrived = atomicAdd(arrivals + piece.first_piece, 1u);
    __threadfence();
  }
  arrived = __shfl_sync(kAllLanes, arrived, 0);
  if (arrived + 1 != static_cast<unsigned>(piece.piece_count)) return;
#pragma unroll
  for (int j = 0; j < kCols; ++j) {
    Number sum = algebra.empty_sum();
    for (Index i = static_cast<Index>(threadIdx.x); i < piece.piece_count; i += kWarpLanes) {
      sum = algebra.add(sum, __ldcg(parts + Offset{piece.first_piece + i} * kCols + j));
    }
    sum = sum_of_warp(sum, algebra);
    if (threadIdx.x == 0) y.column(j).store(piece.row, sum);
  }
  if (threadIdx.x == 0) arrivals[piece.first_piece] = 0;  // for the next product
}

/// Adds up a block's sums of segments. kIsStraight: threads do not diverge while loads are in
/// flight, which costs a register or two.
template <class Types, bool kIsStraight>
class RowsOfPiece {
  using Number = typename Types::Number;
  using Algebra = AlgebraFor<Number, Types::kIsPlusTimes>;

 public:
  /// Loads the ends of rows' segments early.
  __device__ explicit RowsOfPiece(const JaggedPieces::View& map) {
    const auto words =
        load_kept<4>(reinterpret_cast<const std::uint32_t*>(map.pieces + blockIdx.x));
    memcpy(&piece_, &words, sizeof piece_);
    ends_ = map.segment_ends + piece_.row;
    log_lanes_ = log_lanes_per_row(piece_.rows);
    first_ = segments_of(static_cast<Index>(threadIdx.x) >> log_lanes_);
    asm volatile("" : "+h"(first_.begin), "+h"(first_.end));  // keeps the loads here
  }

  /// By all threads of the block, after a barrier that follows the last sum.
  template <int kCols>
  __device__ void add_up(const SumsOfSegments<Number, kCols>& sums, Number* parts,
                         unsigned* arrivals, const OutputUpdate<Types>& y,
                         const Algebra& algebra) const {
    const auto thread = static_cast<int>(threadIdx.x);
    if (piece_.rows == 0) {
      if (thread >= kWarpLanes) return;
      return bring_part<Types, kCols>(piece_, sums, parts, arrivals, y, algebra);
    }
    const int lanes = 1 << log_lanes_, rows_at_once = kThreads >> log_lanes_;
    const int own_part = thread & (lanes - 1);
    const int first_of_warp = (thread & ~(kWarpLanes - 1)) >> log_lanes_;
    SegmentsOfRow segments = first_;
    for (int done = 0; first_of_warp + done < piece_.rows; done += rows_at_once) {
      const int row = (thread >> log_lanes_) + done;
      if (done > 0) segments = segments_of(row);
      const int begin = segments.begin, end = segments.end;
      const bool is_long = end - begin > kMostOfALane * lanes;
      Number total[kCols];
#pragma unroll
      for (int j = 0; j < kCols; ++j) total[j] = algebra.empty_sum();
      if (!is_long) {
        for (int i = begin + own_part; i < end; i += lanes) {
#pragma unroll
          for (int j = 0; j < kCols; ++j) total[j] = algebra.add(total[j], sums[j][i]);
        }
      }
      for (int apart = lanes / 2; apart > 0; apart /= 2) {
#pragma unroll
        for (int j = 0; j < kCols; ++j) {
          total[j] = algebra.add(total[j], __shfl_xor_sync(kAllLanes, total[j], apart));
        }
      }
      for (unsigned waiting = __ballot_sync(kAllLanes, is_long && own_part == 0); waiting != 0;
           waiting &= waiting - 1) {
        const int lane = __ffs(static_cast<int>(waiting)) - 1;
        const int from = __shfl_sync(kAllLanes, begin, lane);
        const int count = __shfl_sync(kAllLanes, end, lane) - from;
#pragma unroll
        for (int j = 0; j < kCols; ++j) {
          const Number many = sum_of_many(sums[j] + from, count, algebra);
          if (thread % kWarpLanes == lane) total[j] = many;
        }
      }
      if (own_part != 0 || row >= piece_.rows) continue;
#pragma unroll
      for (int j = 0; j < kCols; ++j) y.column(j).store(piece_.row + row, total[j]);
    }
  }

 private:
  __device__ SegmentsOfRow segments_of(Index row) const {
    const bool is_there = row < piece_.rows;
    SegmentsOfRow segments = {};
    if (!kIsStraight && !is_there) return segments;
    segments.begin = is_there && row > 0 ? __ldg(ends_ + row - 1) : std::uint16_t{0};
    segments.end = is_there ? __ldg(ends_ + row) : std::uint16_t{0};
    return segments;
  }

  JaggedPiece piece_;
  const std::uint16_t* ends_;
  int log_lanes_;
  SegmentsOfRow first_;
};

/// Blocks per multiprocessor: `of_one` for one column. For several, as many as have registers for a
/// lane's entries in flight, their factors, and a sum for each column.
constexpr int blocks_of(int of_one, int in_flight, int cols, int value_bytes) {
  constexpr int kRegisters = 65536 / kThreads, kOthers = 28;
  if (cols == 1) return of_one;
  const int words = value_bytes / 4;
  const int needed = kOthers + in_flight * (1 + words * (1 + cols)) + cols * words;
  return std::clamp(kRegisters / needed, 1, of_one);
}

template <class Types, int kAtOnce, int kCols>
constexpr int kSortedBlocks = blocks_of(jagged::blocks_at_once(kAtOnce), kAtOnce, kCols,
                                        sizeof(typename Types::Number));
template <class Types, int kHeight, int kCols>
constexpr int kPaddedBlocks = blocks_of(jagged::padded_blocks(kHeight), kHeight, kCols,
                                        sizeof(typename Types::Number));

/// The element of x, or the neighbouring ones, that an entry is multiplied with.
template <int kCols, int kWidth, class Number, class Vector>
__device__ void load_factors(const InputVector<Vector>& x, Index col, Number (&to)[kCols]) {
  if constexpr (kCols == 1) {
    to[0] = x.template at<Number>(col);
  } else {
    x.template neighbours_at<kCols, kWidth>(col, to);
  }
}

/// kCols columns of x at once, in loads of kWidth.
template <class Types, class Column, int kAtOnce, int kCols, int kWidth>
__global__ void __launch_bounds__(kThreads, kSortedBlocks<Types, kAtOnce, kCols>)
    multiply_segments(JaggedPieces::View map, const Column* cols,
                      const typename Types::Value* values, InputVector<typename Types::Vector> x,
                      OutputUpdate<Types> y,
                      AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra,
                      typename Types::Number* parts, unsigned* arrivals, float kept_share) {
  using Number = typename Types::Number;
  __shared__ SumsOfSegments<Number, kCols> sums;
  const int thread = static_cast<int>(threadIdx.x);
  const Offset place = Offset{blockIdx.x} * kThreads + thread;
  const auto own = load_once(reinterpret_cast<const std::uint16_t*>(map.lanes + place));
  Offset at = __ldg(reinterpret_cast<const long long*>(map.warp_starts) + place / kWarpLanes) +
              thread % kWarpLanes;
  Index first_col = 0;
  if constexpr (sizeof(Column) < sizeof(Index)) first_col = map.first_col(blockIdx.x);
  const RowsOfPiece<Types, false> rows(map);
  const std::uint64_t policy = kept_policy(kept_share);
  const int length = own & 0xff;  // JaggedLane
  const int longest = __shfl_sync(kAllLanes, length, 0);
  Number sum[kCols];
#pragma unroll
  for (int j = 0; j < kCols; ++j) sum[j] = algebra.empty_sum();
  for (int step = 0; step < longest; step += kAtOnce) {
    Index col[kAtOnce];
    Number value[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const bool is_there = step + u < length;
      col[u] = is_there
                   ? first_col + static_cast<Index>(load_partly_kept<1>(cols + at, policy).item[0])
                   : -1;
      if (is_there) {
        value[u] = Number{1};
        if (values != nullptr) {
          value[u] = widen<Number>(load_partly_kept<1>(values + at, policy).item[0]);
        }
      }
      at += __popc(__ballot_sync(kAllLanes, is_there));
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (col[u] < 0) continue;
      Number factors[kCols];
      load_factors<kCols, kWidth>(x, col[u], factors);
#pragma unroll
      for (int j = 0; j < kCols; ++j) sum[j] = algebra.add_product(sum[j], value[u], factors[j]);
    }
  }
#pragma unroll
  for (int j = 0; j < kCols; ++j) sums[j][own >> 8] = sum[j];
  __syncthreads();
  rows.template add_up<kCols>(sums, parts, arrivals, y, algebra);
}

/// Loads kHeight elements of this lane, in the order of padded segments (JaggedPieces).
template <int kHeight, class T>
__device__ void load_padded(const T* from, std::uint64_t policy, T (&to)[kHeight]) {
  constexpr int kWidth = jagged::padded_width(kHeight, sizeof(T));
#pragma unroll
  for (int step = 0; step < kHeight; step += kWidth) {
    const Offset place = Offset{blockIdx.x} * kThreads + threadIdx.x;
    const auto pack =
        load_partly_kept<kWidth>(from + jagged::padded_place(place, step, kHeight, kWidth), policy);
    memcpy(to + step, &pack, sizeof pack);
  }
}

/// The same for padded segments: a lane's work is known without a load.
template <class Types, class Column, int kHeight, int kCols, int kWidth>
__global__ void __launch_bounds__(kThreads, kPaddedBlocks<Types, kHeight, kCols>)
    multiply_padded(JaggedPieces::View map, const Column* cols, const typename Types::Value* values,
                    InputVector<typename Types::Vector> x, OutputUpdate<Types> y,
                    AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra,
                    typename Types::Number* parts, unsigned* arrivals, float kept_share) {
  using Number = typename Types::Number;
  __shared__ SumsOfSegments<Number, kCols> sums;
  Column col[kHeight];
  typename Types::Value value[kHeight];
  Index first_col = 0;
  if constexpr (sizeof(Column) < sizeof(Index)) first_col = map.first_col(blockIdx.x);
  const std::uint64_t policy = kept_policy(kept_share);
  load_padded<kHeight>(cols, policy, col);
  const RowsOfPiece<Types, true> rows(map);
  if (values != nullptr) load_padded<kHeight>(values, policy, value);
  const auto is_there = [&](int u) { return u == 0 ? col[1] >= col[0] : col[u] > col[u - 1]; };
  Number factors[kHeight][kCols];
#pragma unroll
  for (int u = 0; u < kHeight; ++u) {
    if (!is_there(u)) continue;
    load_factors<kCols, kWidth>(x, first_col + static_cast<Index>(col[u]), factors[u]);
  }
#pragma unroll
  for (int j = 0; j < kCols; ++j) {
    Number sum = algebra.empty_sum();
#pragma unroll
    for (int u = 0; u < kHeight; ++u) {
      const Number of_a = values == nullptr ? Number{1} : widen<Number>(value[u]);
      if (is_there(u)) sum = algebra.add_product(sum, of_a, factors[u][j]);
    }
    sums[j][threadIdx.x] = sum;
  }
  __syncthreads();
  rows.template add_up<kCols>(sums, parts, arrivals, y, algebra);
}

template <class Types>
class Jagged {
  using Value = typename Types::Value;
  using Vector = typename Types::Vector;
  using Number = typename Types::Number;
  /// Kernels for several columns at once are compiled only where they are often wanted.
  static constexpr bool kTakesSeveral = Types::kIsPlusTimes && std::is_same_v<Value, Number> &&
                                        std::is_same_v<typename Types::Output, Number>;

 public:
  explicit Jagged(Semiring semiring) : algebra_(semiring) {}

  void convert(DeviceCsr a, DeviceMemory& memory) {
    const bool has_values = a.value_kind() != ValueKind::none;
    const int value_bytes = static_cast<int>(size_of(a.value_kind()));
    pieces_.make(a.view<void>(), value_bytes, memory, current_multiprocessors());
    const Offset places = pieces_.places(a.nnz());
    const Offset wide_count = pieces_.is_narrow() ? 0 : places;
    cols_ = DeviceBuffer<Index>(memory, wide_count, "columns of segments");
    narrow_cols_ = DeviceBuffer<std::uint16_t>(memory, places - wide_count, "columns of segments");
    if (has_values) values_ = DeviceBuffer<Value>(memory, places, "values of segments");
    const Index count = pieces_.view().count;
    parts_ = DeviceBuffer<Number>(memory, Offset{count} * kMostCols, "parts of cut rows");
    arrivals_ = DeviceBuffer<unsigned>(memory, count, "counters of cut rows");
    if (count == 0) return;
    CHECK_CUDA(cudaMemsetAsync(arrivals_.data(), 0, arrivals_.size_bytes(), memory.stream()));
    void* const cols = pieces_.is_narrow() ? static_cast<void*>(narrow_cols_.data()) : cols_.data();
    const double most_kept = jagged::kKeptOfL2 * static_cast<double>(current_l2_bytes());
    kept_share_ =
        static_cast<float>(std::min(1.0, most_kept / static_cast<double>(stored_bytes())));
    pieces_.store(a.view<void>(), sizeof(Value), cols, values_.data(), memory.stream());
  }

  void launch(const InputVector<Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    if (pieces_.is_narrow()) {
      launch_with(narrow_cols_.data(), x, y, stream);
    } else {
      launch_with(cols_.data(), x, y, stream);
    }
  }
  std::uint64_t stored_bytes() const {
    return pieces_.bytes() + cols_.size_bytes() + narrow_cols_.size_bytes() + values_.size_bytes();
  }
  std::string choice() const {
    return counted(pieces_.view().count, "piece") + ", segments of at most " +
           counted(pieces_.shape().height, "entry") + ", " +
           std::to_string(pieces_.shape().at_once) + " at once" +
           (pieces_.shape().is_padded ? ", padded" : "") +
           (pieces_.is_narrow() ? ", columns in 16 bits" : "");
  }

 private:
  /// All columns: as many at once as there are, up to four, if rows of x are aligned for that.
  template <class Column>
  void launch_with(const Column* cols, const InputVector<Vector>& x, const OutputUpdate<Types>& y,
                   cudaStream_t stream) const {
    for (Index done = 0; done < y.cols;) {
      const auto from = x.column(done);
      const auto to = y.column(done);
      done += launch_some(cols, from, to, y.cols - done, stream);
    }
  }
  /// Returns how many of the `left` columns it has launched.
  template <class Column>
  Index launch_some(const Column* cols, const InputVector<Vector>& x, const OutputUpdate<Types>& y,
                    Index left, cudaStream_t stream) const {
    if constexpr (kTakesSeveral) {
      constexpr int kWidest = 16 / static_cast<int>(sizeof(Vector));  // elements of one load
      if (left >= 4 && x.is_aligned(kWidest)) return launch_cols<4, kWidest>(cols, x, y, stream);
      if (left == 3) return launch_cols<3, 1>(cols, x, y, stream);
      if (left >= 2 && x.is_aligned(2)) return launch_cols<2, 2>(cols, x, y, stream);
      if (left >= 2) return launch_cols<2, 1>(cols, x, y, stream);
    }
    return launch_cols<1, 1>(cols, x, y, stream);
  }
  template <int kCols, int kWidth, class Column>
  Index launch_cols(const Column* cols, const InputVector<Vector>& x, const OutputUpdate<Types>& y,
                    cudaStream_t stream) const {
    const JaggedPieces::View map = pieces_.view();
    const auto queue = [&](auto* multiply) {
      multiply<<<static_cast<unsigned>(map.count), kThreads, 0, stream>>>(
          map, cols, values_.data(), x, y, algebra_, parts_.data(), arrivals_.data(), kept_share_);
    };
    const auto [height, at_once, is_padded] = pieces_.shape();
    if (is_padded) {
      queue(at_once == 4 ? multiply_padded<Types, Column, 4, kCols, kWidth>
                         : multiply_padded<Types, Column, 8, kCols, kWidth>);
      CHECK_LAUNCH("multiply_padded", stream);
    } else {
      queue(at_once == 4 ? multiply_segments<Types, Column, 4, kCols, kWidth>
                         : multiply_segments<Types, Column, 8, kCols, kWidth>);
      CHECK_LAUNCH("multiply_segments", stream);
    }
    return kCols;
  }

  AlgebraFor<Number, Types::kIsPlusTimes> algebra_;
  JaggedPieces pieces_;
  float kept_share_ = 1;      // share of A that stays in L2
  DeviceBuffer<Index> cols_;  // or
  DeviceBuffer<std::uint16_t> narrow_cols_;
  DeviceBuffer<Value> values_;
  DeviceBuffer<Number> parts_;
  DeviceBuffer<unsigned> arrivals_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_jagged(const SpmmProblem& problem) {
  return typed_spmv<Jagged>(problem);
}

}  // namespace csrkit::gpu

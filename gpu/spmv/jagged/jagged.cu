// jagged: rows cut into segments of few entries, a lane each; for rows of unlike length.
// Owns     columns and values in the order in which lanes read them (jagged diagonals of 32
//          segments), what each lane and each block has to do. No padding
// Reads    every entry once, a request being up to 256 bytes in sequence; 2 bytes a row and 2 a
//          lane in the place of row offsets
// Launch   one thread per segment, which asks for 4 or 8 entries at once; what a block reads first
//          depends on nothing, then columns, then x: three waits. Sums of segments meet in shared
//          memory, where the lanes of a block add up its rows in a fixed order. A row of more than
//          256 segments takes several blocks, of which the last adds up all: the same bits every
//          time, without a second kernel or float atomics
// Needs    a copy of A
// Source   jagged diagonals: Saad, Krylov subspace methods on supercomputers, SIAM J. Sci. Stat.
//          Comput. 1989; long rows cut into several short ones and the sort within a block are
//          this file's own
// Against  csr_balanced, sell; vendor_cusparse

#include <string>

#include "core/base/counted.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/device_spmv.h"
#include "gpu/spmv/jagged/pieces.h"

namespace csrkit::gpu {

namespace {

using jagged::kThreads, jagged::kWarps;

/// A row of more segments for each of its lanes gets a warp to add them up.
constexpr int kLongRow = 16;

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

/// Where the sums of a row's segments lie.
struct SegmentsOfRow {
  std::uint16_t begin, end;
};

/// The first warp of a block brings its part of a row that is cut. The last block to come adds up
/// all parts.
template <class Types, class Algebra>
__device__ void bring_part(const JaggedPiece& piece, typename Types::Number part,
                           typename Types::Number* parts, unsigned* arrivals,
                           const OutputUpdate<Types>& y, const Algebra& algebra) {
  unsigned arrived = 0;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = part;
    __threadfence();
    arrived = atomicAdd(arrivals + piece.first_piece, 1u);
    __threadfence();
  }
  arrived = __shfl_sync(kAllLanes, arrived, 0);
  if (arrived + 1 != static_cast<unsigned>(piece.piece_count)) return;
  typename Types::Number sum = algebra.empty_sum();
  for (Index i = static_cast<Index>(threadIdx.x); i < piece.piece_count; i += kWarpLanes) {
    sum = algebra.add(sum, __ldcg(parts + piece.first_piece + i));
  }
  sum = sum_of_warp(sum, algebra);
  if (threadIdx.x != 0) return;
  y.store(piece.row, sum);
  arrivals[piece.first_piece] = 0;  // for the next product
}

template <class Types, int kAtOnce>
__global__ void __launch_bounds__(kThreads, jagged::blocks_at_once(kAtOnce))
    multiply_segments(JaggedPieces::View map, const Index* cols,
                      const typename Types::Value* values, InputVector<typename Types::Vector> x,
                      OutputUpdate<Types> y,
                      AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra,
                      typename Types::Number* parts, unsigned* arrivals) {
  using Number = typename Types::Number;
  __shared__ Number sums[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const Offset place = Offset{blockIdx.x} * kThreads + thread;
  const auto own = load_once(reinterpret_cast<const std::uint16_t*>(map.lanes + place));
  Offset at = __ldg(reinterpret_cast<const long long*>(map.warp_starts) + place / kWarpLanes) +
              thread % kWarpLanes;
  const auto words = load_kept<4>(reinterpret_cast<const std::uint32_t*>(map.pieces + blockIdx.x));
  JaggedPiece piece;
  memcpy(&piece, &words, sizeof piece);
  // The segments of a row, asked for long before they are needed.
  const auto ends_of = [&](Index row) {
    SegmentsOfRow segments = {};
    if (row >= piece.rows) return segments;
    const std::uint16_t* end = map.segment_ends + piece.row + row;
    segments.begin = row == 0 ? std::uint16_t{0} : __ldg(end - 1);
    segments.end = __ldg(end);
    return segments;
  };
  const int log_lanes = log_lanes_per_row(piece.rows), lanes = 1 << log_lanes;
  SegmentsOfRow segments = ends_of(thread >> log_lanes);
  asm volatile("" : "+h"(segments.begin), "+h"(segments.end));  // not later
  const int length = own & 0xff;                                // JaggedLane
  const int longest = __shfl_sync(kAllLanes, length, 0);
  Number sum = algebra.empty_sum();
  for (int step = 0; step < longest; step += kAtOnce) {
    Index col[kAtOnce];
    Number value[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const bool is_there = step + u < length;
      col[u] = is_there ? load_once(cols + at) : -1;
      if (is_there) value[u] = value_of<Number>(values, at);
      at += __popc(__ballot_sync(kAllLanes, is_there));
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (col[u] >= 0) sum = algebra.add_product(sum, value[u], x.template at<Number>(col[u]));
    }
  }
  sums[own >> 8] = sum;
  __syncthreads();
  if (piece.rows == 0) {
    if (thread >= kWarpLanes) return;
    const Number part = sum_of_many(sums, kThreads, algebra);
    return bring_part<Types>(piece, part, parts, arrivals, y, algebra);
  }
  const int own_part = thread & (lanes - 1), rows_at_once = kThreads >> log_lanes;
  const int first_of_warp = (thread & ~(kWarpLanes - 1)) >> log_lanes;
  for (int done = 0; first_of_warp + done < piece.rows; done += rows_at_once) {
    const int row = (thread >> log_lanes) + done;
    if (done > 0) segments = ends_of(row);
    const int begin = segments.begin, end = segments.end;
    const bool is_long = end - begin > kLongRow * lanes;
    Number total = algebra.empty_sum();
    if (!is_long) {
      for (int i = begin + own_part; i < end; i += lanes) total = algebra.add(total, sums[i]);
    }
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
      total = algebra.add(total, __shfl_xor_sync(kAllLanes, total, apart));
    }
    for (unsigned waiting = __ballot_sync(kAllLanes, is_long && own_part == 0); waiting != 0;
         waiting &= waiting - 1) {
      const int lane = __ffs(static_cast<int>(waiting)) - 1;
      const int from = __shfl_sync(kAllLanes, begin, lane);
      const int count = __shfl_sync(kAllLanes, end, lane) - from;
      const Number many = sum_of_many(sums + from, count, algebra);
      if (thread % kWarpLanes == lane) total = many;
    }
    if (own_part == 0 && row < piece.rows) y.store(piece.row + row, total);
  }
}

template <class Types>
class Jagged {
  using Value = typename Types::Value;
  using Number = typename Types::Number;

 public:
  explicit Jagged(Semiring semiring) : algebra_(semiring) {}

  void convert(DeviceCsr a, DeviceMemory& memory) {
    const bool has_values = a.value_kind() != ValueKind::none;
    shape_ = pieces_.make(a.view<void>(), memory, current_multiprocessors());
    cols_ = DeviceBuffer<Index>(memory, a.nnz(), "columns of segments");
    if (has_values) values_ = DeviceBuffer<Value>(memory, a.nnz(), "values of segments");
    const Index count = pieces_.view().count;
    parts_ = DeviceBuffer<Number>(memory, count, "parts of cut rows");
    arrivals_ = DeviceBuffer<unsigned>(memory, count, "counters of cut rows");
    if (count == 0) return;
    CHECK_CUDA(cudaMemsetAsync(arrivals_.data(), 0, arrivals_.size_bytes(), memory.stream()));
    pieces_.store(a.view<void>(), sizeof(Value), cols_.data(), values_.data(), memory.stream());
  }

  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    const JaggedPieces::View map = pieces_.view();
    const auto queue = [&](auto* multiply) {
      multiply<<<static_cast<unsigned>(map.count), kThreads, 0, stream>>>(
          map, cols_.data(), values_.data(), x, y, algebra_, parts_.data(), arrivals_.data());
    };
    queue(shape_.at_once == 4 ? multiply_segments<Types, 4> : multiply_segments<Types, 8>);
    CHECK_LAUNCH("multiply_segments", stream);
  }
  std::uint64_t stored_bytes() const {
    return pieces_.bytes() + cols_.size_bytes() + values_.size_bytes();
  }
  std::string choice() const {
    return counted(pieces_.view().count, "piece") + ", segments of at most " +
           counted(shape_.height, "entry") + ", " + std::to_string(shape_.at_once) + " at once";
  }

 private:
  AlgebraFor<Number, Types::kIsPlusTimes> algebra_;
  JaggedShape shape_ = {};
  JaggedPieces pieces_;
  DeviceBuffer<Index> cols_;
  DeviceBuffer<Value> values_;
  DeviceBuffer<Number> parts_;
  DeviceBuffer<unsigned> arrivals_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_jagged(const SpmmProblem& problem) {
  return typed_spmv<Jagged>(problem);
}

}  // namespace csrkit::gpu

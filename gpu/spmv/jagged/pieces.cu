#include <array>

#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/jagged/pieces.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

namespace {

using jagged::kThreads, jagged::kWarps, jagged::kMostRows, jagged::kHighest;

/// Rows, and segments, that one warp cuts into pieces.
constexpr Offset kOfAChunk = 8192;

__global__ void count_segments(DeviceCsrView<void> a, int height, Offset* counts,
                               unsigned long long* entries_of_long_rows) {
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  const auto row = static_cast<Index>(at);
  const Offset length = at < a.rows ? a.row_end(row) - a.row_begin(row) : 0;
  if (at <= a.rows) counts[at] = (length + height - 1) / height;
  Offset of_long = length > jagged::kMostOfAShortRow ? length : 0;
  if (__any_sync(kAllLanes, of_long > 0) == 0) return;
  for (int apart = kWarpLanes / 2; apart > 0; apart /= 2) {
    of_long += __shfl_down_sync(kAllLanes, of_long, apart);
  }
  if (threadIdx.x % kWarpLanes == 0) {
    atomicAdd(entries_of_long_rows, static_cast<unsigned long long>(of_long));
  }
}

/// The first number in [low, high] for which is_behind holds; it holds for `high`. All lanes of a
/// warp search together, each at another place.
template <class F>
__device__ Index first_by_warp(Index low, Index high, const F& is_behind) {
  const auto lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  while (low < high) {
    const Index step = (high - low - 1) / kWarpLanes + 1;
    const Offset place = Offset{low} + Offset{step} * (lane + 1) - 1;
    const bool is_there = place >= high || is_behind(static_cast<Index>(place));
    const unsigned found = __ballot_sync(kAllLanes, is_there);
    if (found == 0) return high;
    low += step * (__ffs(static_cast<int>(found)) - 1);
    high = min(high - low, step - 1) + low;
  }
  return low;
}

/// The same by one thread.
template <class F>
__device__ Index first_row(Index low, Index high, const F& is_behind) {
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (is_behind(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// The first warp of a block calls f(row, rows, pieces) for the pieces of a chunk: `rows` whole
/// rows in one piece, or one row cut into several. `segments`: the number of segments before each
/// row. Each piece begins where the last one ends, so the block first copies these numbers to
/// shared memory.
template <class F>
__device__ void for_each_piece(const Offset* segments, Index rows, Offset chunk, const F& f) {
  __shared__ unsigned ends[kOfAChunk];  // segments of the chunk, up to the end of each row
  const auto begin_of = [&](Offset number) {
    return first_by_warp(0, rows,
                         [&](Index row) { return segments[row] + row >= number * kOfAChunk; });
  };
  const Index begin = begin_of(chunk), count = begin_of(chunk + 1) - begin;
  const auto thread = static_cast<Index>(threadIdx.x);
  for (Index i = thread; i < count; i += kThreads) {
    ends[i] = static_cast<unsigned>(segments[begin + i + 1] - segments[begin]);
  }
  __syncthreads();
  if (thread >= kWarpLanes) return;
  unsigned before = 0;
  for (Index i = 0; i < count;) {
    const unsigned own = ends[i] - before;
    if (own > kThreads) {
      f(begin + i, 0, static_cast<Index>((own + kThreads - 1) / kThreads));
      before = ends[i++];
      continue;
    }
    const Index last = first_by_warp(i + 1, min(count, i + kMostRows),
                                     [&](Index other) { return ends[other] - before > kThreads; });
    f(begin + i, last - i, 1);
    before = ends[last - 1];
    i = last;
  }
}

/// One block per chunk, and one for the end.
__global__ void count_pieces(const Offset* segments, Index rows, Offset* counts) {
  Offset count = 0;
  for_each_piece(segments, rows, blockIdx.x, [&](Index, Index, Index pieces) { count += pieces; });
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

/// One block per chunk.
__global__ void list_pieces(const Offset* segments, Index rows, const Offset* starts,
                            JaggedPiece* pieces) {
  auto at = static_cast<Index>(starts[blockIdx.x]);
  for_each_piece(segments, rows, blockIdx.x, [&](Index row, Index whole, Index count) {
    for (Index i = static_cast<Index>(threadIdx.x); i < count; i += kWarpLanes) {
      pieces[at + i] = {row, whole, at, count};
    }
    at += count;
  });
}

/// The rank of each thread's number in the block: largest first, equal ones in their order. Numbers
/// are at most kHighest.
__device__ int place_by_length(int length) {
  static_assert(kHighest < kWarpLanes);
  __shared__ int places[kWarps][kWarpLanes];  // of each length, its first in each warp
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarpLanes, warp = thread / kWarpLanes;
  const unsigned same = __match_any_sync(kAllLanes, length);
  places[warp][lane] = 0;
  __syncwarp();
  const int before = __popc(same & ((1u << lane) - 1));
  if (before == 0) places[warp][length] = __popc(same);
  __syncthreads();
  if (warp == 0) {
    int count = 0;
    for (int i = 0; i < kWarps; ++i) count += places[i][lane];
    int at_least = count;
    for (int apart = 1; apart < kWarpLanes; apart *= 2) {
      const int longer = __shfl_down_sync(kAllLanes, at_least, apart);
      if (lane + apart < kWarpLanes) at_least += longer;
    }
    int place = at_least - count;
    for (int i = 0; i < kWarps; ++i) {
      const int own = places[i][lane];
      places[i][lane] = place;
      place += own;
    }
  }
  __syncthreads();
  return places[warp][length] + before;
}

/// The columns of a piece (`count` rows from `row` on): the lowest, and the largest distance from
/// it. By all threads of the block.
__device__ void note_columns(const DeviceCsrView<void>& a, Index row, Index count, Index* first_col,
                             unsigned* widest) {
  __shared__ Index lowest, highest;
  if (threadIdx.x == 0) lowest = a.cols, highest = 0;
  __syncthreads();
  Index low = a.cols, high = 0;
  for (Index i = static_cast<Index>(threadIdx.x); i < count; i += kThreads) {
    const Offset begin = a.row_begin(row + i), end = a.row_end(row + i);
    if (begin == end) continue;
    low = min(low, a.col_indices[begin]);
    high = max(high, a.col_indices[end - 1]);
  }
  atomicMin(&lowest, __reduce_min_sync(kAllLanes, low));
  atomicMax(&highest, __reduce_max_sync(kAllLanes, high));
  __syncthreads();
  if (threadIdx.x != 0) return;
  *first_col = lowest;
  if (highest > lowest) atomicMax(widest, static_cast<unsigned>(highest - lowest));
}

/// One block per piece.
__global__ void fill_lanes(DeviceCsrView<void> a, const Offset* segments, JaggedPieces::View to,
                           bool is_padded, JaggedLane* lanes, Offset* warp_starts,
                           std::uint16_t* segment_ends, Offset* entry_of_lane,
                           Index* stride_of_lane, Index* first_cols, unsigned* widest) {
  __shared__ std::uint8_t sorted[kThreads];
  const JaggedPiece piece = to.pieces[blockIdx.x];
  const auto thread = static_cast<int>(threadIdx.x);
  const Index rows = max(piece.rows, 1);
  const Index part = piece.rows == 0 ? static_cast<Index>(blockIdx.x) - piece.first_piece : 0;
  const Offset first = segments[piece.row] + Offset{part} * kThreads;
  const Offset count = min(segments[piece.row + rows] - first, Offset{kThreads});
  for (Index i = thread; i < piece.rows; i += kThreads) {
    segment_ends[piece.row + i] = static_cast<std::uint16_t>(segments[piece.row + i + 1] - first);
  }
  // The entries of this thread's segment: every `stride`-th of those that its row has in here.
  Offset begin = a.row_begin(piece.row);
  Offset stride = 1;
  int length = 0;
  if (thread < count) {
    const Offset segment = first + thread;
    const Index row = piece.row + first_row(0, rows - 1, [&](Index i) {
                        return segments[piece.row + i + 1] > segment;
                      });
    const Offset of_row = segments[row + 1] - segments[row];
    const Offset before = max(first - segments[row], Offset{0});  // those in pieces before
    stride = min(of_row - before, Offset{kThreads});
    const Offset entries = a.row_end(row) - a.row_begin(row);
    const Offset from = entries * before / of_row, to = entries * (before + stride) / of_row;
    const Offset number = segment - segments[row] - before;
    begin = a.row_begin(row) + from + number;
    length = static_cast<int>((to - from - number + stride - 1) / stride);
  }
  const int place = is_padded ? thread : place_by_length(length);
  sorted[place] = static_cast<std::uint8_t>(length);
  const Offset lane = Offset{blockIdx.x} * kThreads + place;
  lanes[lane] = {static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(thread)};
  entry_of_lane[lane] = begin;
  stride_of_lane[lane] = static_cast<Index>(stride);
  __shared__ Offset piece_begin;
  __shared__ unsigned of_warp[kWarps];
  if (thread == 0) piece_begin = begin;
  __syncthreads();
  const unsigned own = __reduce_add_sync(kAllLanes, unsigned{sorted[thread]});
  if (thread % kWarpLanes == 0) of_warp[thread / kWarpLanes] = own;
  if (first_cols != nullptr) note_columns(a, piece.row, rows, first_cols + blockIdx.x, widest);
  __syncthreads();
  if (thread >= kWarps) return;
  Offset start = piece_begin;
  for (int i = 0; i < thread; ++i) start += of_warp[i];
  warp_starts[Offset{blockIdx.x} * kWarps + thread] = start;
}

/// One thread per lane of a piece.
template <class Bits, class Column>
__global__ void store_entries(DeviceCsrView<Bits> a, JaggedPieces::View from,
                              const Offset* entry_of_lane, const Index* stride_of_lane,
                              Column* cols, Bits* values) {
  const Offset place = Offset{blockIdx.x} * kThreads + threadIdx.x;
  const int length = from.lanes[place].length;
  Offset entry = entry_of_lane[place];
  const Index stride = stride_of_lane[place], first_col = from.first_col(blockIdx.x);
  Offset to = from.warp_starts[place / kWarpLanes] + threadIdx.x % kWarpLanes;
  for (int step = 0; __any_sync(kAllLanes, step < length); ++step) {
    if (step < length) {
      cols[to] = static_cast<Column>(a.col_indices[entry] - first_col);
      if (values != nullptr) values[to] = a.values[entry];
      entry += stride;
    }
    to += __popc(__ballot_sync(kAllLanes, step < length));
  }
}

/// The same for padded segments. Padding repeats the last column; a segment without entries gets
/// columns 1 and 0.
template <class Bits, class Column>
__global__ void store_padded(DeviceCsrView<Bits> a, JaggedPieces::View from,
                             const Offset* entry_of_lane, const Index* stride_of_lane, int height,
                             Column* cols, Bits* values) {
  const Offset place = Offset{blockIdx.x} * kThreads + threadIdx.x;
  const int length = from.lanes[place].length;
  Offset entry = entry_of_lane[place];
  const Index stride = stride_of_lane[place], first_col = from.first_col(blockIdx.x);
  const int of_cols = jagged::padded_width(height, sizeof(Column));
  const int of_values = jagged::padded_width(height, sizeof(Bits));
  Index col = 0;
  for (int step = 0; step < height; ++step, entry += stride) {
    const bool is_there = step < length;
    if (is_there) col = a.col_indices[entry] - first_col;
    cols[jagged::padded_place(place, step, height, of_cols)] =
        static_cast<Column>(length == 0 && step == 0 ? 1 : col);
    if (values == nullptr) continue;
    values[jagged::padded_place(place, step, height, of_values)] = is_there ? a.values[entry] : 0;
  }
}

/// The cut of rows at one height.
struct Cut {
  DeviceBuffer<Offset> starts;  // pieces before each chunk, all of them, entries of long rows
  Offset chunks = 0;
  JaggedCounts counts;
};

/// Counts the segments before each row, and in total, into `segments`. Waits.
Cut cut_rows(const DeviceCsrView<void>& a, int height, const DeviceBuffer<Offset>& segments,
             DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  Cut cut;
  // An upper bound, known without waiting: pieces at the end are empty.
  cut.chunks = (a.nnz / height + 2 * Offset{a.rows}) / kOfAChunk + 1;
  cut.starts = DeviceBuffer<Offset>(memory, cut.chunks + 2, "pieces of chunks");
  Offset* const pieces = cut.starts.data() + cut.chunks;
  CHECK_CUDA(cudaMemsetAsync(pieces + 1, 0, sizeof(Offset), stream));
  count_segments<<<spmv_blocks(segments.size()), kSpmvThreads, 0, stream>>>(
      a, height, segments.data(), reinterpret_cast<unsigned long long*>(pieces + 1));
  CHECK_LAUNCH("count_segments", stream);
  exclusive_sum(memory, segments.data(), segments.size());
  count_pieces<<<static_cast<unsigned>(cut.chunks + 1), kThreads, 0, stream>>>(
      segments.data(), a.rows, cut.starts.data());
  CHECK_LAUNCH("count_pieces", stream);
  exclusive_sum(memory, cut.starts.data(), cut.chunks + 1);
  const auto seen = fetch(reinterpret_cast<const std::array<Offset, 2>*>(pieces), stream);
  cut.counts = {seen[0], seen[1]};
  return cut;
}

}  // namespace

void JaggedPieces::make(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory,
                        int multiprocessors) {
  shape_ = first_jagged_shape(a.rows, a.nnz, value_bytes, multiprocessors);
  if (a.rows == 0) return;
  const cudaStream_t stream = memory.stream();
  const DeviceBuffer<Offset> segments(memory, Offset{a.rows} + 1, "segments of rows");
  Cut cut;
  for (int height = 0; height != shape_.height;) {
    height = shape_.height;
    cut = Cut();
    cut = cut_rows(a, height, segments, memory);
    shape_ = jagged_shape(shape_, a.rows, a.nnz, cut.counts, multiprocessors);
  }
  const Offset count = cut.counts.pieces;
  pieces_ = DeviceBuffer<JaggedPiece>(memory, count, "pieces");
  lanes_ = DeviceBuffer<JaggedLane>(memory, count * kThreads, "segments of lanes");
  warp_starts_ = DeviceBuffer<Offset>(memory, count * kWarps, "where warps begin");
  segment_ends_ = DeviceBuffer<std::uint16_t>(memory, a.rows, "where segments of rows end");
  entry_of_lane_ = DeviceBuffer<Offset>(memory, lanes_.size(), "where segments begin");
  stride_of_lane_ = DeviceBuffer<Index>(memory, lanes_.size(), "strides of segments");
  list_pieces<<<static_cast<unsigned>(cut.chunks), kThreads, 0, stream>>>(
      segments.data(), a.rows, cut.starts.data(), pieces_.data());
  CHECK_LAUNCH("list_pieces", stream);
  DeviceBuffer<Index> first_cols;
  DeviceBuffer<unsigned> widest;
  if (a.cols > jagged::kNarrowCols) {
    first_cols = DeviceBuffer<Index>(memory, count, "first columns of pieces");
    widest = DeviceBuffer<unsigned>(memory, 1, "how far columns of a piece are apart");
    CHECK_CUDA(cudaMemsetAsync(widest.data(), 0, widest.size_bytes(), stream));
  }
  fill_lanes<<<static_cast<unsigned>(count), kThreads, 0, stream>>>(
      a, segments.data(), view(), shape_.is_padded, lanes_.data(), warp_starts_.data(),
      segment_ends_.data(), entry_of_lane_.data(), stride_of_lane_.data(), first_cols.data(),
      widest.data());
  CHECK_LAUNCH("fill_lanes", stream);
  is_narrow_ = first_cols.size() == 0 ||
               fetch(widest.data(), stream) < static_cast<unsigned>(jagged::kNarrowCols);
  if (is_narrow_) first_cols_ = std::move(first_cols);
}

void JaggedPieces::store(const DeviceCsrView<void>& a, int value_bytes, void* cols, void* values,
                         cudaStream_t stream) {
  if (pieces_.size() == 0) return;
  const auto blocks = static_cast<unsigned>(pieces_.size());
  with_bits(value_bytes, [&](auto bits) {
    using Bits = decltype(bits);
    const auto queue = [&](auto* to) {
      auto* const to_values = static_cast<Bits*>(values);
      if (shape_.is_padded) {
        store_padded<<<blocks, kThreads, 0, stream>>>(a.as<Bits>(), view(), entry_of_lane_.data(),
                                                      stride_of_lane_.data(), shape_.height, to,
                                                      to_values);
      } else {
        store_entries<<<blocks, kThreads, 0, stream>>>(a.as<Bits>(), view(), entry_of_lane_.data(),
                                                       stride_of_lane_.data(), to, to_values);
      }
    };
    if (is_narrow_) {
      queue(static_cast<std::uint16_t*>(cols));
    } else {
      queue(static_cast<Index*>(cols));
    }
    CHECK_LAUNCH("storing segments", stream);
  });
  entry_of_lane_ = DeviceBuffer<Offset>();
  stride_of_lane_ = DeviceBuffer<Index>();
  if (!shape_.is_padded) return;
  lanes_ = DeviceBuffer<JaggedLane>();
  warp_starts_ = DeviceBuffer<Offset>();
}

}  // namespace csrkit::gpu

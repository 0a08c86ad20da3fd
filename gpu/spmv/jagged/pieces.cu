#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/jagged/pieces.h"
#include "gpu/spmv/scan_and_sort.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

namespace {

using jagged::kThreads, jagged::kWarps, jagged::kMostRows;

/// Rows and segments that one thread cuts into pieces, one after the other.
constexpr Offset kOfAChunk = 8192;

__global__ void count_segments(DeviceCsrView<void> a, int height, Offset* counts) {
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (at > a.rows) return;
  const auto row = static_cast<Index>(at);
  const Offset length = at == a.rows ? 0 : a.row_end(row) - a.row_begin(row);
  counts[at] = (length + height - 1) / height;
}

/// The first row in [low, high] for which `is_behind` holds; it does for `high`.
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

/// Calls f(row, rows, pieces) for the pieces of a chunk: `rows` of them whole in one piece, or one
/// row that is cut into several. `segments` counts those before each row.
template <class F>
__device__ void for_each_piece(const Offset* segments, Index rows, Offset chunk, const F& f) {
  const auto begin_of = [&](Offset number) {
    return first_row(0, rows, [&](Index row) { return segments[row] + row >= number * kOfAChunk; });
  };
  const Index end = begin_of(chunk + 1);
  for (Index row = begin_of(chunk); row < end;) {
    const Offset before = segments[row], own = segments[row + 1] - before;
    if (own > kThreads) {
      f(row, 0, static_cast<Index>((own + kThreads - 1) / kThreads));
      ++row;
      continue;
    }
    const Index last = first_row(row + 1, min(end, row + kMostRows), [&](Index other) {
      return segments[other + 1] - before > kThreads;
    });
    f(row, last - row, 1);
    row = last;
  }
}

__global__ void count_pieces(const Offset* segments, Index rows, Offset chunks, Offset* counts) {
  const Offset chunk = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (chunk > chunks) return;
  Offset count = 0;
  if (chunk < chunks) {
    for_each_piece(segments, rows, chunk, [&](Index, Index, Index pieces) { count += pieces; });
  }
  counts[chunk] = count;
}

__global__ void list_pieces(const Offset* segments, Index rows, Offset chunks, const Offset* starts,
                            JaggedPiece* pieces) {
  const Offset chunk = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (chunk >= chunks) return;
  auto at = static_cast<Index>(starts[chunk]);
  for_each_piece(segments, rows, chunk, [&](Index row, Index whole, Index count) {
    const Index first = at;
    for (; at < first + count; ++at) pieces[at] = {row, whole, first, count};
  });
}

/// One block per piece.
__global__ void fill_lanes(DeviceCsrView<void> a, const Offset* segments, JaggedPieces::View to,
                           JaggedLane* lanes, Offset* warp_starts, std::uint16_t* segment_ends,
                           Offset* entry_of_lane, Index* stride_of_lane) {
  __shared__ std::uint8_t lengths[kThreads], sorted[kThreads];
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
  lengths[thread] = static_cast<std::uint8_t>(length);
  __syncthreads();
  int place = 0;
  for (int other = 0; other < kThreads; ++other) {
    place += lengths[other] > length || (lengths[other] == length && other < thread) ? 1 : 0;
  }
  sorted[place] = static_cast<std::uint8_t>(length);
  const Offset lane = Offset{blockIdx.x} * kThreads + place;
  lanes[lane] = {static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(thread)};
  entry_of_lane[lane] = begin;
  stride_of_lane[lane] = static_cast<Index>(stride);
  __shared__ Offset piece_begin;
  if (thread == 0) piece_begin = begin;
  __syncthreads();
  if (thread >= kWarps) return;
  Offset start = piece_begin;
  for (int i = 0; i < thread * kWarpLanes; ++i) start += sorted[i];
  warp_starts[Offset{blockIdx.x} * kWarps + thread] = start;
}

/// One thread per lane of a piece.
template <class Bits>
__global__ void store_entries(DeviceCsrView<Bits> a, JaggedPieces::View from,
                              const Offset* entry_of_lane, const Index* stride_of_lane, Index* cols,
                              Bits* values) {
  const Offset place = Offset{blockIdx.x} * kThreads + threadIdx.x;
  const int length = from.lanes[place].length;
  Offset entry = entry_of_lane[place];
  const Index stride = stride_of_lane[place];
  Offset to = from.warp_starts[place / kWarpLanes] + threadIdx.x % kWarpLanes;
  for (int step = 0; __any_sync(kAllLanes, step < length); ++step) {
    if (step < length) {
      cols[to] = a.col_indices[entry];
      if (values != nullptr) values[to] = a.values[entry];
      entry += stride;
    }
    to += __popc(__ballot_sync(kAllLanes, step < length));
  }
}

/// How rows are cut at one height.
struct Cut {
  DeviceBuffer<Offset> starts;  // pieces before each chunk, and all
  Offset chunks = 0;
  Offset pieces = 0;
};

/// Counts segments before each row, and all, into `segments`. Waits.
Cut cut_rows(const DeviceCsrView<void>& a, int height, const DeviceBuffer<Offset>& segments,
             DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  count_segments<<<spmv_blocks(segments.size()), kSpmvThreads, 0, stream>>>(a, height,
                                                                            segments.data());
  CHECK_LAUNCH("count_segments", stream);
  exclusive_sum(memory, segments.data(), segments.size());
  Cut cut;
  cut.chunks = (fetch(segments.data() + a.rows, stream) + a.rows) / kOfAChunk + 1;
  cut.starts = DeviceBuffer<Offset>(memory, cut.chunks + 1, "pieces of chunks");
  count_pieces<<<spmv_blocks(cut.starts.size()), kSpmvThreads, 0, stream>>>(
      segments.data(), a.rows, cut.chunks, cut.starts.data());
  CHECK_LAUNCH("count_pieces", stream);
  exclusive_sum(memory, cut.starts.data(), cut.starts.size());
  cut.pieces = fetch(cut.starts.data() + cut.chunks, stream);
  return cut;
}

}  // namespace

JaggedShape JaggedPieces::make(const DeviceCsrView<void>& a, DeviceMemory& memory,
                               int multiprocessors) {
  const int height = segment_height(a.rows, a.nnz);
  if (a.rows == 0) return jagged_shape(a.rows, a.nnz, 0, multiprocessors);
  const cudaStream_t stream = memory.stream();
  const DeviceBuffer<Offset> segments(memory, Offset{a.rows} + 1, "segments of rows");
  Cut cut = cut_rows(a, height, segments, memory);
  const JaggedShape shape = jagged_shape(a.rows, a.nnz, cut.pieces, multiprocessors);
  if (shape.height != height) {
    cut = Cut();
    cut = cut_rows(a, shape.height, segments, memory);
  }
  const Offset chunks = cut.chunks, count = cut.pieces;
  pieces_ = DeviceBuffer<JaggedPiece>(memory, count, "pieces");
  lanes_ = DeviceBuffer<JaggedLane>(memory, count * kThreads, "segments of lanes");
  warp_starts_ = DeviceBuffer<Offset>(memory, count * kWarps, "where warps begin");
  segment_ends_ = DeviceBuffer<std::uint16_t>(memory, a.rows, "where segments of rows end");
  entry_of_lane_ = DeviceBuffer<Offset>(memory, lanes_.size(), "where segments begin");
  stride_of_lane_ = DeviceBuffer<Index>(memory, lanes_.size(), "strides of segments");
  list_pieces<<<spmv_blocks(chunks), kSpmvThreads, 0, stream>>>(segments.data(), a.rows, chunks,
                                                                cut.starts.data(), pieces_.data());
  CHECK_LAUNCH("list_pieces", stream);
  fill_lanes<<<static_cast<unsigned>(count), kThreads, 0, stream>>>(
      a, segments.data(), view(), lanes_.data(), warp_starts_.data(), segment_ends_.data(),
      entry_of_lane_.data(), stride_of_lane_.data());
  CHECK_LAUNCH("fill_lanes", stream);
  return shape;
}

void JaggedPieces::store(const DeviceCsrView<void>& a, int value_bytes, Index* cols, void* values,
                         cudaStream_t stream) const {
  if (pieces_.size() == 0) return;
  with_bits(value_bytes, [&](auto bits) {
    using Bits = decltype(bits);
    store_entries<<<static_cast<unsigned>(pieces_.size()), kThreads, 0, stream>>>(
        a.as<Bits>(), view(), entry_of_lane_.data(), stride_of_lane_.data(), cols,
        static_cast<Bits*>(values));
    CHECK_LAUNCH("store_entries", stream);
  });
}

}  // namespace csrkit::gpu

// Rows into bins: count, scan, place. Three passes over the row offsets, none over the entries.

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/row_bins_pieces.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kRowsPerBlock = 1024;
constexpr unsigned kFullWarp = 0xffffffffu;

// Bins: one per length up to 8, then four per octave. Rows are handed out longest bin first.
constexpr int kExactLengths = 8;
constexpr int kBins = 48;

// Measured on an H200 (docs/performance.md): below 5 M nonzeros short pieces fill the machine and
// the whole matrix is one window; above, longer pieces cost less, and windows of 16,384 rows keep
// what locality the order of the rows has.
constexpr Offset kManyEntries = 5'000'000;
constexpr Index kShortPiece = 64, kLongPiece = 256;
constexpr Index kWindowRows = 16 * kRowsPerBlock;

/// A row up to a quarter above a piece's length stays whole: cutting it would cost more.
__host__ __device__ constexpr Index longest_whole(Index piece_entries) {
  return piece_entries + piece_entries / 4;
}

__device__ int bin_of(Offset length) {
  if (length <= kExactLengths) return static_cast<int>(length);
  const int octave = 63 - __clzll(length);  // at least 3
  const int quarter = static_cast<int>(length >> (octave - 2)) & 3;
  return min(kBins - 1, kExactLengths + 1 + 4 * (octave - 3) + quarter);
}

/// Counters that the analysis fills and `finish` reads.
struct Totals {
  unsigned long long parts;
  unsigned long long slots;
  unsigned long long cut_rows;
  unsigned long long counters;
};

__host__ __device__ Index groups_of(Index parts) {
  return (parts + kPartsPerGroup - 1) / kPartsPerGroup;
}

struct Shape {
  DeviceOffsets offsets;
  Offset base;
  Index rows;
  Index piece_entries;
  Index window_rows;
  Offset max_parts;
};

__device__ int key_of(const Shape& shape, Index row, Offset length) {
  const Offset whole = min(length, Offset{longest_whole(shape.piece_entries)});
  return (row / shape.window_rows) * kBins + (kBins - 1 - bin_of(whole));
}

// Pass 1: rows per (window, bin). A block's rows are in one window: kRowsPerBlock divides it.
__global__ void __launch_bounds__(kThreads) count_rows(Shape shape, Index* counts) {
  __shared__ Index local[kBins];
  if (threadIdx.x < kBins) local[threadIdx.x] = 0;
  __syncthreads();
  const Index first = static_cast<Index>(blockIdx.x) * kRowsPerBlock;
  const int window_key = first / shape.window_rows * kBins;
  for (int i = static_cast<int>(threadIdx.x); i < kRowsPerBlock; i += kThreads) {
    if (first + Offset{i} >= shape.rows) break;
    const Index row = first + i;
    const Offset length = shape.offsets[Offset{row} + 1] - shape.offsets[row];
    atomicAdd(&local[key_of(shape, row, length) - window_key], 1);
  }
  __syncthreads();
  if (threadIdx.x < kBins && local[threadIdx.x] > 0) {
    atomicAdd(&counts[window_key + threadIdx.x], local[threadIdx.x]);
  }
}

// Pass 2: counts become first places. One block; windows * kBins numbers are few.
__global__ void __launch_bounds__(1024) scan_counts(Index* counts, int size) {
  __shared__ Index warp_sums[32];
  __shared__ Index carry;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) carry = 0;
  __syncthreads();
  for (int begin = 0; begin < size; begin += 1024) {
    const int at = begin + static_cast<int>(threadIdx.x);
    const Index count = at < size ? counts[at] : 0;
    Index sum = count;
    for (int distance = 1; distance < 32; distance *= 2) {
      const Index below = __shfl_up_sync(kFullWarp, sum, distance);
      if (lane >= distance) sum += below;
    }
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
      Index total = warp_sums[lane];
      for (int distance = 1; distance < 32; distance *= 2) {
        const Index below = __shfl_up_sync(kFullWarp, total, distance);
        if (lane >= distance) total += below;
      }
      warp_sums[lane] = total;
    }
    __syncthreads();
    const Index before = carry + (warp > 0 ? warp_sums[warp - 1] : 0) + sum - count;
    if (at < size) counts[at] = before;
    __syncthreads();
    if (threadIdx.x == 0) carry += warp_sums[31];
    __syncthreads();
  }
}

// Pass 3: every row gets a place in its bin, and rows that are cut get parts, slots and counters. A
// block reserves places per bin at once and fills them in the order of its rows, because neighbours
// often share columns: four of them in a warp find each other's rows of B in L1. Which places, slots
// or counters a block gets may differ from run to run; what is added to what, in which order, does
// not.
__global__ void __launch_bounds__(kThreads)
    place_rows(Shape shape, Index* starts, BinnedPiece* pieces, Index* cut_of_slot,
               BinnedCutRow* cut_rows, Totals* totals) {
  constexpr int kUnits = kRowsPerBlock / 32;  // 32 consecutive rows each
  constexpr int kRounds = kRowsPerBlock / kThreads;
  __shared__ Index places[kUnits][kBins];
  for (int i = static_cast<int>(threadIdx.x); i < kUnits * kBins; i += kThreads) {
    places[i / kBins][i % kBins] = 0;
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index first = static_cast<Index>(blockIdx.x) * kRowsPerBlock;
  const int window_key = first / shape.window_rows * kBins;
  int bin[kRounds];
  Index rank[kRounds];
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int unit = warp * kRounds + round;
    const Offset row = Offset{first} + unit * 32 + lane;
    bin[round] = -1;
    if (row < shape.rows) {
      const Offset length = shape.offsets[row + 1] - shape.offsets[row];
      bin[round] = key_of(shape, static_cast<Index>(row), length) - window_key;
    }
    const unsigned same = __match_any_sync(kFullWarp, bin[round]);
    rank[round] = __popc(same & ((1u << lane) - 1));
    if (bin[round] >= 0 && rank[round] == 0) places[unit][bin[round]] = __popc(same);
  }
  __syncthreads();
  if (threadIdx.x < kBins) {
    Index total = 0;
    for (int unit = 0; unit < kUnits; ++unit) total += places[unit][threadIdx.x];
    Index next = total > 0 ? atomicAdd(&starts[window_key + threadIdx.x], total) : 0;
    for (int unit = 0; unit < kUnits; ++unit) {
      const Index count = places[unit][threadIdx.x];
      places[unit][threadIdx.x] = next;
      next += count;
    }
  }
  __syncthreads();
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int unit = warp * kRounds + round;
    const Offset row = Offset{first} + unit * 32 + lane;
    const bool is_row = row < shape.rows;
    Offset begin = 0, length = 0, place = 0, first_part = 0;
    BinnedCutRow cut{};
    if (is_row) {
      begin = shape.offsets[row] - shape.base;
      length = shape.offsets[row + 1] - shape.base - begin;
      place = shape.max_parts + places[unit][bin[round]] + rank[round];
      if (length <= longest_whole(shape.piece_entries)) {
        pieces[place] = {begin, static_cast<Index>(row), static_cast<Index>(length)};
      } else {
        const auto parts =
            static_cast<Index>((length + shape.piece_entries - 1) / shape.piece_entries);
        const Index groups = groups_of(parts);
        first_part = static_cast<Offset>(
            atomicAdd(&totals->parts, static_cast<unsigned long long>(parts - 1)));
        cut.row = static_cast<Index>(row);
        cut.parts = parts;
        cut.first_slot = static_cast<Index>(atomicAdd(
            &totals->slots, static_cast<unsigned long long>(parts + (groups > 1 ? groups : 0))));
        cut.first_counter = static_cast<Index>(
            atomicAdd(&totals->counters, static_cast<unsigned long long>(groups + 1)));
      }
    }
    // The warp writes the parts of each cut row together: a hub has hundreds of thousands.
    for (unsigned left = __ballot_sync(kFullWarp, cut.parts > 0); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      Index cut_index = 0;
      if (lane == owner) {
        cut_index = static_cast<Index>(atomicAdd(&totals->cut_rows, 1ull));
        cut_rows[cut_index] = cut;
      }
      cut_index = __shfl_sync(kFullWarp, cut_index, owner);
      const Index parts = __shfl_sync(kFullWarp, cut.parts, owner);
      const Index slot = __shfl_sync(kFullWarp, cut.first_slot, owner);
      const Offset from = __shfl_sync(kFullWarp, begin, owner);
      const Offset entries = __shfl_sync(kFullWarp, length, owner);
      const Offset own_place = __shfl_sync(kFullWarp, place, owner);
      const Offset part_place = shape.max_parts - 1 - __shfl_sync(kFullWarp, first_part, owner);
      for (Index part = lane; part < parts; part += 32) {
        const Offset low = entries / parts * part + min(Offset{part}, entries % parts);
        const Offset size = entries / parts + (part < entries % parts ? 1 : 0);
        // All parts but the last lie before the rows; the last takes the row's own place.
        const Offset to = part + 1 < parts ? part_place - part : own_place;
        pieces[to] = {from + low, slot + part, static_cast<Index>(-1 - size)};
        cut_of_slot[slot + part] = cut_index;
      }
    }
  }
}

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

PieceBinner::PieceBinner(const SpmmSizes& sizes, Offset slices)
    : rows_(sizes.rows), slices_(slices) {
  const bool is_large = sizes.nnz >= kManyEntries;
  piece_entries_ = is_large ? kLongPiece : kShortPiece;
  const Offset blocks = (Offset{rows_} + kRowsPerBlock - 1) / kRowsPerBlock;
  windows_ = is_large ? (Offset{rows_} + kWindowRows - 1) / kWindowRows : 1;
  // One window: as many rows as there are, or the largest multiple of a block that fits an Index.
  window_rows_ =
      is_large ? kWindowRows
               : static_cast<Index>(std::min(std::max<Offset>(blocks, 1) * kRowsPerBlock,
                                             Offset{kMaxIndex} / kRowsPerBlock * kRowsPerBlock));
  if (!is_large) windows_ = (Offset{rows_} + window_rows_ - 1) / window_rows_;
  windows_ = std::max<Offset>(windows_, 1);

  // A cut row has length > 5/4 piece and ceil(length / piece) <= 8/5 length / piece parts, and one
  // group slot for every 32 parts begun.
  max_cut_rows_ = std::min(Offset{rows_}, sizes.nnz / (longest_whole(piece_entries_) + 1));
  const Offset max_row_parts = sizes.nnz / piece_entries_ + max_cut_rows_;
  max_parts_ = sizes.nnz / piece_entries_;
  max_slots_ = max_row_parts + max_row_parts / kPartsPerGroup + max_cut_rows_;

  std::uint64_t at = 0;
  const auto reserve = [&at](std::uint64_t bytes) {
    const std::uint64_t here = at;
    at += aligned(bytes);
    return here;
  };
  totals_at_ = reserve(sizeof(Totals));
  starts_at_ = reserve(static_cast<std::uint64_t>(windows_) * kBins * sizeof(Index));
  counters_at_ = reserve(static_cast<std::uint64_t>(max_slots_ + max_cut_rows_) *
                         static_cast<std::uint64_t>(slices_) * sizeof(Index));
  pieces_at_ = reserve(static_cast<std::uint64_t>(max_parts_ + rows_) * sizeof(BinnedPiece));
  slots_at_ = reserve(static_cast<std::uint64_t>(max_slots_) * sizeof(Index));
  cut_rows_at_ = reserve(static_cast<std::uint64_t>(max_cut_rows_) * sizeof(BinnedCutRow));
  bytes_ = at;
}

BinnedPieces PieceBinner::lay_out(void* workspace) const {
  auto* bytes = static_cast<std::byte*>(workspace);
  BinnedPieces result;
  result.pieces = reinterpret_cast<BinnedPiece*>(bytes + pieces_at_);
  result.cut_of_slot = reinterpret_cast<Index*>(bytes + slots_at_);
  result.cut_rows = reinterpret_cast<BinnedCutRow*>(bytes + cut_rows_at_);
  result.counters = reinterpret_cast<Index*>(bytes + counters_at_);
  return result;
}

void PieceBinner::analyse(const DeviceOffsets& row_offsets, Offset base, void* workspace,
                          cudaStream_t stream) {
  if (rows_ == 0) return;
  auto* bytes = static_cast<std::byte*>(workspace);
  // Totals, starts and counters lie together, in front.
  CHECK_CUDA(cudaMemsetAsync(bytes, 0, pieces_at_, stream));
  const BinnedPieces out = lay_out(workspace);
  const Shape shape{row_offsets, base, rows_, piece_entries_, window_rows_, max_parts_};
  auto* starts = reinterpret_cast<Index*>(bytes + starts_at_);
  auto* totals = reinterpret_cast<Totals*>(bytes + totals_at_);
  const auto blocks = static_cast<unsigned>((Offset{rows_} + kRowsPerBlock - 1) / kRowsPerBlock);
  count_rows<<<blocks, kThreads, 0, stream>>>(shape, starts);
  CHECK_LAUNCH("count_rows", stream);
  scan_counts<<<1, 1024, 0, stream>>>(starts, static_cast<int>(windows_ * kBins));
  CHECK_LAUNCH("scan_counts", stream);
  place_rows<<<blocks, kThreads, 0, stream>>>(shape, starts, out.pieces, out.cut_of_slot,
                                              out.cut_rows, totals);
  CHECK_LAUNCH("place_rows", stream);
}

BinnedPieces PieceBinner::finish(void* workspace, cudaStream_t stream) const {
  BinnedPieces result = lay_out(workspace);
  if (rows_ == 0) return result;
  Totals totals{};
  CHECK_CUDA(cudaMemcpyAsync(&totals, static_cast<std::byte*>(workspace) + totals_at_,
                             sizeof totals, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  const auto parts = static_cast<Offset>(totals.parts);
  result.first_piece = max_parts_ - parts;
  result.piece_count = parts + rows_;
  result.counter_count = static_cast<Offset>(totals.counters);
  result.slot_count = static_cast<Offset>(totals.slots);
  return result;
}

}  // namespace csrkit::gpu

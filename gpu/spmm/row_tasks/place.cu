// The last pass over the rows: every row gets its place.

#include <cstdint>

#include "gpu/device/cuda_check.h"
#include "gpu/device/launch_early.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/spmm/row_tasks/passes.cuh"

namespace csrkit::gpu::row_tasks {

namespace {

constexpr int kThreads = 256;

/// All loads come before the first store, so they overlap.
template <class Word>
__device__ void copy_short_row(Word* to, const Word* from, Index length) {
  Word words[kShortRow];
#pragma unroll
  for (Index i = 0; i < kShortRow; ++i) {
    if (i < length) words[i] = __ldg(from + i);
  }
#pragma unroll
  for (Index i = 0; i < kShortRow; ++i) {
    if (i < length) to[i] = words[i];
  }
}

__device__ void copy_short_values(void* to, Offset at, const void* from, Offset begin, int bytes,
                                  Index length) {
  const auto copy = [&](auto word) {
    using Word = decltype(word);
    copy_short_row(static_cast<Word*>(to) + at, static_cast<const Word*>(from) + begin, length);
  };
  switch (bytes) {
    case 2: return copy(std::uint16_t{});
    case 4: return copy(std::uint32_t{});
    default: return copy(uint2{});
  }
}

/// Tasks [count, whole_warps(count)) of a bin are empty.
__device__ void fill_up(RowTask* tasks, Offset count, Index size) {
  for (Offset at = count; at < whole_warps(count); ++at) tasks[at] = {0, 0, size};
}

/// Places a short row after those of its length; the first row of a strip writes the strip's task.
__device__ void place_short_row(const DeviceCsrView<void>& a, int value_bytes, const Shape& shape,
                                const BinArrays& bins, const RowTasks& out, int key, Index in_bin,
                                Index row, Offset begin, Index length) {
  const BinStart start = bins.starts[key];
  const Offset ordered = start.ordered_rows + in_bin;
  const Offset copied = start.copied_entries + Offset{in_bin} * length;
  out.row_order[ordered] = row;
  copy_short_row(out.short_cols + copied, a.col_indices + begin, length);
  if (a.values != nullptr) {
    copy_short_values(out.short_values, copied, a.values, begin, value_bytes, length);
  }
  const Index per_strip = rows_per_strip(length, shape.strip_entries);
  if (in_bin % per_strip == 0) {
    const Index rows = min(per_strip, bins.counts[key] - in_bin);
    RowTask* tasks = out.tasks + shape.first_row_task + start.tasks;
    tasks[in_bin / per_strip] = {copied, static_cast<Index>(ordered), strip_size(length, rows)};
    if (in_bin + rows == bins.counts[key]) {
      fill_up(tasks, in_bin / per_strip + 1, strip_size(length, 0));
    }
  }
}

/// The sum over the lanes before this one.
__device__ Index sum_before(Index own, Index& total) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Index up_to_mine = own;
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) {
    const Index before = __shfl_up_sync(kAllLanes, up_to_mine, apart);
    if (lane >= apart) up_to_mine += before;
  }
  total = __shfl_sync(kAllLanes, up_to_mine, 31);
  return up_to_mine - own;
}

/// A row or panel that is cut, and where its parts go. The parts of a long row are consecutive. All
/// parts of a panel except the last come before the panels; the last takes the panel's own place.
struct Cutting {
  Offset begin, entries, place, part_place;
  Index parts, first_slot, cut_index;
  bool is_long;
  Offset share, rest;  // entries of a part in units of eight, and how many parts have one unit more

  __device__ void divide() {
    share = entries / parts;
    rest = entries - share * parts;
  }
  /// Where a part begins within the row: at multiples of eight entries of A, so that eight lanes
  /// read whole sectors of 32 bytes.
  __device__ Offset part_begin(Index part) const {
    if (part == 0 || part == parts) return part == 0 ? 0 : entries;
    return (begin + share * part + min(Offset{part}, rest)) / kShortRow * kShortRow - begin;
  }
  __device__ void write(Index part, const RowTasks& out) const {
    const Offset low = part_begin(part), size = part_begin(part + 1) - low;
    Offset to = place + part;
    if (!is_long) to = part + 1 < parts ? part_place - part : place;
    out.tasks[to] = {begin + low, first_slot + part, static_cast<Index>(-size)};
    out.cut_of_slot[first_slot + part] = cut_index;
  }
  __device__ Cutting of_lane(int lane) const {
    return {
        __shfl_sync(kAllLanes, begin, lane),     __shfl_sync(kAllLanes, entries, lane),
        __shfl_sync(kAllLanes, place, lane),     __shfl_sync(kAllLanes, part_place, lane),
        __shfl_sync(kAllLanes, parts, lane),     __shfl_sync(kAllLanes, first_slot, lane),
        __shfl_sync(kAllLanes, cut_index, lane), __shfl_sync(kAllLanes, is_long ? 1 : 0, lane) != 0,
        __shfl_sync(kAllLanes, share, lane),     __shfl_sync(kAllLanes, rest, lane)};
  }
};

/// By a warp; each lane has a row that is cut, or none (0 parts). If rows have few parts, as panels
/// do, each lane writes its own; a hub has hundreds of thousands, which the warp writes together.
/// One atomic per warp and counter, not per row.
__device__ void write_parts(const Shape& shape, Cutting own, Index row, const RowTasks& out,
                            Progress* progress) {
  constexpr Index kFewParts = 8;
  const unsigned cutters = __ballot_sync(kAllLanes, own.parts > 0);
  if (cutters == 0) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index groups = groups_of(own.parts);
  const bool is_cut = own.parts > 0;
  if (is_cut) own.divide();
  Index parts = 0, slots = 0, counters = 0;  // of the whole warp
  const Index parts_before = sum_before(is_cut && !own.is_long ? own.parts - 1 : 0, parts);
  const Index slots_before = sum_before(own.parts + (groups > 1 ? groups : 0), slots);
  const Index counters_before = sum_before(is_cut ? groups + 1 : 0, counters);
  unsigned long long first = 0;
  const auto reserve = [&](int of_lane, unsigned long long& from, Index count) {
    if (lane == of_lane) first = atomicAdd(&from, static_cast<unsigned long long>(count));
  };
  reserve(0, progress->parts, parts);
  reserve(1, progress->slots, slots);
  reserve(2, progress->counters, counters);
  reserve(3, progress->cut_rows, __popc(cutters));
  const auto first_part = static_cast<Offset>(__shfl_sync(kAllLanes, first, 0)) + parts_before;
  const auto first_counter = static_cast<Index>(__shfl_sync(kAllLanes, first, 2)) + counters_before;
  own.part_place = shape.first_row_task - 1 - first_part;
  own.first_slot = static_cast<Index>(__shfl_sync(kAllLanes, first, 1)) + slots_before;
  own.cut_index =
      static_cast<Index>(__shfl_sync(kAllLanes, first, 3)) + __popc(cutters & ((1u << lane) - 1));
  if (is_cut) out.cut_rows[own.cut_index] = {row, own.parts, own.first_slot, first_counter};
  if (own.parts <= kFewParts) {
    for (Index part = 0; part < own.parts; ++part) own.write(part, out);
  }
  for (unsigned left = __ballot_sync(kAllLanes, own.parts > kFewParts); left != 0;
       left &= left - 1) {
    const Cutting cutting = own.of_lane(__ffs(static_cast<int>(left)) - 1);
    for (Index part = lane; part < cutting.parts; part += 32) cutting.write(part, out);
  }
}

// Gives every row a place in its bin, and cut rows parts, slots and counters. A block reserves all
// its places of a bin at once and fills them in the order of its rows: neighbours often share
// columns, and four of them in a warp find each other's rows of B in L1. Which places, slots and
// counters a block gets differs from run to run; the order of sums does not.
template <int kRows>
__global__ void __launch_bounds__(kThreads)
    place_rows(DeviceCsrView<void> a, int value_bytes, Shape shape, BinArrays bins, RowTasks out,
               Progress* progress) {
  constexpr int kUnits = kRows / 32;  // 32 consecutive rows each
  constexpr int kRounds = kRows / kThreads;
  __shared__ Index places[kUnits][kAllBins];
  for (int i = static_cast<int>(threadIdx.x); i < kUnits * kAllBins; i += kThreads) {
    places[i / kAllBins][i % kAllBins] = 0;
  }
  __syncthreads();
  // The kernel before made the lengths of panels; row offsets and band ends existed earlier.
  if (shape.has_panels()) wait_for_kernel_before();
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index first = static_cast<Index>(blockIdx.x) * kRows;
  const int range_key = first / shape.range_rows * kBins;
  int bin[kRounds];
  Index rank[kRounds];
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int unit = warp * kRounds + round;
    const Offset row = Offset{first} + unit * 32 + lane;
    bin[round] = -1;
    Index long_tasks = 0;
    const Offset length = row < shape.rows ? shape.length_of(row) : 0;
    if (row < shape.rows && shape.is_task(length)) {
      bin[round] = bin_key_of(shape, length);
      if (bin[round] >= kBins) long_tasks = tasks_of(shape, bin[round], length);
    }
    const unsigned same = __match_any_sync(kAllLanes, bin[round]);
    rank[round] = __popc(same & ((1u << lane) - 1));
    if (bin[round] >= 0 && bin[round] < kBins && rank[round] == 0) {
      places[unit][bin[round]] = __popc(same);
    }
#pragma unroll 1
    for (int long_bin = kBins; long_bin < kAllBins; ++long_bin) {
      if (!__any_sync(kAllLanes, bin[round] == long_bin)) continue;
      Index total;
      const Index before = sum_before(bin[round] == long_bin ? long_tasks : 0, total);
      if (bin[round] == long_bin) rank[round] = before;
      if (lane == 0) places[unit][long_bin] = total;
    }
  }
  __syncthreads();
  wait_for_kernel_before();  // results of count_rows are used after this
  if (threadIdx.x < kAllBins) {
    Index total = 0;
    for (int unit = 0; unit < kUnits; ++unit) total += places[unit][threadIdx.x];
    Index next = 0;
    if (threadIdx.x >= kBins) {
      next = bins.long_starts[(threadIdx.x - kBins) * gridDim.x + blockIdx.x];
    } else if (total > 0) {
      next = atomicAdd(&bins.taken[range_key + threadIdx.x], total);
    }
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
    Cutting cutting{};
    if (bin[round] >= 0) {
      const Offset begin = shape.begin_of(row), length = shape.length_of(row);
      const Index in_bin = places[unit][bin[round]] + rank[round];
      const bool is_long = bin[round] >= kBins;
      const int key = range_key + bin[round];
      const Offset place = shape.first_row_task + in_bin + (is_long ? 0 : bins.starts[key].tasks);
      if (length > shape.longest_in_strips && !is_long && in_bin + 1 == bins.counts[key]) {
        fill_up(out.tasks + place - in_bin, Offset{in_bin} + 1, 0);
      }
      if (length <= shape.longest_in_strips) {
        place_short_row(a, value_bytes, shape, bins, out, key, in_bin, static_cast<Index>(row),
                        begin, static_cast<Index>(length));
      } else if (length <= longest_whole(shape.part_entries)) {
        out.tasks[place] = {begin, static_cast<Index>(row), static_cast<Index>(length)};
      } else {
        cutting.begin = begin;
        cutting.entries = length;
        cutting.place = place;
        cutting.parts = static_cast<Index>(parts_of(length, shape.part_entries));
        cutting.is_long = is_long;
      }
    }
    write_parts(shape, cutting, static_cast<Index>(row), out, progress);
  }
}

}  // namespace

void place(const DeviceCsrView<void>& a, int value_bytes, const Shape& shape, const BinArrays& bins,
           const RowTasks& out, Progress* progress, cudaStream_t stream) {
  const auto kernel = shape.rows_per_block == kRowsPerBlock ? place_rows<kRowsPerBlock>
                                                            : place_rows<kFewRowsPerBlock>;
  launch_early(kernel, static_cast<unsigned>(bins.blocks), kThreads, 0, stream, a, value_bytes,
               shape, bins, out, progress);
  CHECK_LAUNCH("place_rows", stream);
}

}  // namespace csrkit::gpu::row_tasks

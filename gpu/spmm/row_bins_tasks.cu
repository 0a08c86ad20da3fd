// Rows into bins: count, scan, place. Two passes over the row offsets, and one over the entries of short
// rows, which are copied.

#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <limits>

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/row_bins_tasks.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kRowsPerBlock = 1024;
constexpr unsigned kFullWarp = 0xffffffffu;

// Bins: one per length up to 64, then one per two, and per four from 128 on: the rows of a warp take as
// long as the longest of them. Rows are handed out longest bin first. Long rows are in a bin of their
// own, which no window divides and which comes before all others; the parts of a cut one lie side by side.
constexpr int kBins = 145;
constexpr int kLongBin = kBins;
constexpr int kAllBins = kBins + 1;

// Measured on an H200 (docs/performance.md). Parts that have a warp are as long as leaves so many of them,
// three times what runs at once; parts that a group of lanes has must be shorter, by a factor of two to
// four. From 5 M nonzeros on windows of 16,384 rows keep what locality the order of the rows has.
constexpr Offset kManyEntries = 5'000'000;
constexpr Offset kEnoughParts = 12'000;
constexpr Index kWarpPart = 256, kLongestWarpPart = 1024;
constexpr Index kNarrowPart = 64, kPart = 128, kLargePart = 256;
constexpr Index kWindowRows = 16 * kRowsPerBlock;

// A group of lanes has about this many entries of short rows to multiply: enough that the three
// dependent loads at its start (task, entries, rows of B) are a small part of its time.
constexpr Index kStripEntries = 24, kStripEmptyRows = 32;

/// Rows of `length` that one strip takes; a multiple of what one step of eight entries holds.
__host__ __device__ constexpr Index rows_per_strip(Index length) {
  if (length == 0) return kStripEmptyRows;
  const Index per_step = kShortRow / length;
  return (kStripEntries / length + per_step - 1) / per_step * per_step;
}

__host__ __device__ constexpr Offset whole_warps(Offset tasks) {
  return (tasks + kTasksPerWarp - 1) / kTasksPerWarp * kTasksPerWarp;
}

/// A row up to a quarter above a part's length stays whole: cutting it would cost more.
__host__ __device__ constexpr Index longest_whole(Index part_entries) {
  return part_entries + part_entries / 4;
}

__host__ __device__ constexpr int bin_of(Index length) {
  if (length <= 64) return length;
  if (length <= 128) return 64 + (length - 64 + 1) / 2;
  return 96 + (length - 128 + 3) / 4;
}
static_assert(bin_of(longest_whole(kLargePart)) < kBins, "a bin for every whole row");

__host__ __device__ constexpr int key_in_window(int bin) { return kBins - 1 - bin; }

/// Counters that the analysis fills and `finish` reads.
struct Totals {
  unsigned long long parts;
  unsigned long long slots;
  unsigned long long cut_rows;
  unsigned long long counters;
  unsigned long long long_tasks;
  unsigned long long tasks;  // those, too
};

__host__ __device__ constexpr Offset parts_of(Offset length, Index part_entries) {
  if (length <= longest_whole(part_entries)) return 1;
  return (length + part_entries - 1) / part_entries;
}

__host__ __device__ Index groups_of(Index parts) {
  return (parts + kPartsPerGroup - 1) / kPartsPerGroup;
}

struct Shape {
  DeviceOffsets offsets;
  Offset base;
  TaskRows kind;
  Index longest_in_strips;
  Offset shortest_long;
  Index rows;
  Index part_entries;
  Index window_rows;
  Offset first_row_task;  // parts of panels lie before it

  __device__ Offset begin_of(Offset row) const {
    if (kind.lengths == nullptr) return offsets[row] - base;
    return panel_begin(offsets[row * kind.rows_each] - base, row);
  }
  __device__ Offset length_of(Offset row) const {
    if (kind.lengths == nullptr) return offsets[row + 1] - offsets[row];
    return kind.lengths[row];
  }
};

/// What lies before the first row of a bin.
struct BinStart {
  Offset tasks;
  Offset ordered_rows;
  Offset copied_entries;
  __device__ BinStart operator+(const BinStart& other) const {
    return {tasks + other.tasks, ordered_rows + other.ordered_rows,
            copied_entries + other.copied_entries};
  }
};

/// Of one row: its bin in its window, or kLongBin.
__device__ int bin_key_of(const Shape& shape, Offset length) {
  if (length >= shape.shortest_long) return kLongBin;
  const Offset whole = min(length, Offset{longest_whole(shape.part_entries)});
  return key_in_window(bin_of(static_cast<Index>(whole)));
}

/// How many tasks a row adds to its bin: its parts, or itself.
__device__ Index tasks_of(const Shape& shape, int bin_key, Offset length) {
  if (bin_key != kLongBin) return 1;
  return static_cast<Index>(parts_of(length, shape.part_entries));
}

// Pass 1: rows per (window, bin), and tasks of long rows. A block's rows are in one window:
// kRowsPerBlock divides it.
__global__ void __launch_bounds__(kThreads)
    count_rows(Shape shape, Index* counts, Index* long_tasks_of_block) {
  __shared__ Index local[kAllBins];
  if (threadIdx.x < kAllBins) local[threadIdx.x] = 0;
  __syncthreads();
  const Index first = static_cast<Index>(blockIdx.x) * kRowsPerBlock;
  const int window_key = first / shape.window_rows * kBins;
  for (int i = static_cast<int>(threadIdx.x); i < kRowsPerBlock; i += kThreads) {
    if (first + Offset{i} >= shape.rows) break;
    const Offset length = shape.length_of(first + i);
    const int bin = bin_key_of(shape, length);
    atomicAdd(&local[bin], tasks_of(shape, bin, length));
  }
  __syncthreads();
  if (threadIdx.x == kLongBin) long_tasks_of_block[blockIdx.x] = local[kLongBin];
  if (threadIdx.x < kBins && local[threadIdx.x] > 0) {
    atomicAdd(&counts[window_key + threadIdx.x], local[threadIdx.x]);
  }
}

// Pass 2: counts become starts, and so do the long tasks of blocks. One block; these numbers are few.
constexpr int kScanThreads = 512;
__global__ void __launch_bounds__(kScanThreads)
    scan_counts(Index* long_tasks_of_block, int blocks, const Index* counts, BinStart* starts,
                int size, Index longest_in_strips, Totals* totals) {
  using LongScan = cub::BlockScan<Index, kScanThreads>;
  using Scan = cub::BlockScan<BinStart, kScanThreads>;
  __shared__ typename LongScan::TempStorage long_scratch;
  __shared__ typename Scan::TempStorage scratch;
  Index long_tasks = 0;
  for (int begin = 0; begin < blocks; begin += kScanThreads) {
    const int block = begin + static_cast<int>(threadIdx.x);
    Index before, total;
    LongScan(long_scratch)
        .ExclusiveSum(block < blocks ? long_tasks_of_block[block] : 0, before, total);
    if (block < blocks) long_tasks_of_block[block] = long_tasks + before;
    long_tasks += total;
    __syncthreads();  // long_scratch is used again
  }
  BinStart carry = {long_tasks, 0, 0};
  for (int begin = 0; begin < size; begin += kScanThreads) {
    const int key = begin + static_cast<int>(threadIdx.x);
    BinStart own = {0, 0, 0};
    if (key < size) {
      const Offset rows = counts[key];
      const int bin = kBins - 1 - key % kBins;
      own = {whole_warps(rows), 0, 0};
      if (bin <= longest_in_strips) {
        const Index per_strip = rows_per_strip(bin);
        own = {whole_warps((rows + per_strip - 1) / per_strip), rows, rows * bin};
      }
    }
    BinStart before, total;
    Scan(scratch).ExclusiveScan(
        own, before, BinStart{0, 0, 0}, [](const BinStart& a, const BinStart& b) { return a + b; },
        total);
    if (key < size) starts[key] = carry + before;
    carry = carry + total;
    __syncthreads();  // scratch is used again
  }
  if (threadIdx.x == 0) {
    totals->long_tasks = static_cast<unsigned long long>(long_tasks);
    totals->tasks = static_cast<unsigned long long>(carry.tasks);
  }
}

__device__ void copy_value(void* to, Offset at, const void* from, Offset entry, int bytes) {
  switch (bytes) {
    case 2:
      static_cast<std::uint16_t*>(to)[at] = __ldg(static_cast<const std::uint16_t*>(from) + entry);
      return;
    case 4:
      static_cast<std::uint32_t*>(to)[at] = __ldg(static_cast<const std::uint32_t*>(from) + entry);
      return;
    default: static_cast<uint2*>(to)[at] = __ldg(static_cast<const uint2*>(from) + entry);
  }
}

/// Tasks [count, whole_warps(count)) of a bin are empty.
__device__ void fill_up(RowTask* tasks, Offset count, Index size) {
  for (Offset at = count; at < whole_warps(count); ++at) tasks[at] = {0, 0, size};
}

struct BinOf {
  const Index* long_starts;  // where the long tasks of a block of rows begin
  const Index* counts;
  Index* taken;  // rows of the bin that have their place
  const BinStart* starts;
};

/// A short row goes behind those of its length; the first of a strip makes the strip's task.
__device__ void place_short_row(const DeviceCsrView<void>& a, int value_bytes, const Shape& shape,
                                const BinOf& bins, const RowTasks& out, int key, Index in_bin,
                                Index row, Offset begin, Index length) {
  const BinStart start = bins.starts[key];
  const Offset ordered = start.ordered_rows + in_bin;
  const Offset copied = start.copied_entries + Offset{in_bin} * length;
  out.row_order[ordered] = row;
  for (Index i = 0; i < length; ++i) {
    out.short_cols[copied + i] = __ldg(a.col_indices + begin + i);
    if (a.values != nullptr) {
      copy_value(out.short_values, copied + i, a.values, begin + i, value_bytes);
    }
  }
  const Index per_strip = rows_per_strip(length);
  if (in_bin % per_strip == 0) {
    const Index rows = min(per_strip, bins.counts[key] - in_bin);
    RowTask* tasks = out.tasks + shape.first_row_task + start.tasks;
    tasks[in_bin / per_strip] = {copied, static_cast<Index>(ordered), strip_size(length, rows)};
    if (in_bin + rows == bins.counts[key]) {
      fill_up(tasks, in_bin / per_strip + 1, strip_size(length, 0));
    }
  }
}

/// Where part `part` of a row of `entries` entries from `row_begin` on begins, within the row: at
/// multiples of eight entries of A, so that eight lanes read whole sectors of 32 bytes.
__device__ Offset part_begin(Offset row_begin, Offset entries, Index part, Index parts) {
  if (part == 0 || part == parts) return part == 0 ? 0 : entries;
  const Offset even = entries / parts * part + min(Offset{part}, entries % parts);
  return (row_begin + even) / kShortRow * kShortRow - row_begin;
}

// Pass 3: every row gets a place in its bin, and rows that are cut get parts, slots and counters. A
// block reserves places per bin at once and fills them in the order of its rows, because neighbours
// often share columns: four of them in a warp find each other's rows of B in L1. Which places, slots
// or counters a block gets may differ from run to run; what is added to what, in which order, does
// not.
__global__ void __launch_bounds__(kThreads)
    place_rows(DeviceCsrView<void> a, int value_bytes, Shape shape, BinOf bins, RowTasks out,
               Totals* totals) {
  constexpr int kUnits = kRowsPerBlock / 32;  // 32 consecutive rows each
  constexpr int kRounds = kRowsPerBlock / kThreads;
  __shared__ Index places[kUnits][kAllBins];
  for (int i = static_cast<int>(threadIdx.x); i < kUnits * kAllBins; i += kThreads) {
    places[i / kAllBins][i % kAllBins] = 0;
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
    Index long_tasks = 0;
    if (row < shape.rows) {
      const Offset length = shape.length_of(row);
      bin[round] = bin_key_of(shape, length);
      if (bin[round] == kLongBin) long_tasks = tasks_of(shape, kLongBin, length);
    }
    const unsigned same = __match_any_sync(kFullWarp, bin[round]);
    rank[round] = __popc(same & ((1u << lane) - 1));
    if (bin[round] >= 0 && bin[round] != kLongBin && rank[round] == 0) {
      places[unit][bin[round]] = __popc(same);
    }
    if (__any_sync(kFullWarp, long_tasks > 0)) {
      Index up_to_mine = long_tasks;
#pragma unroll
      for (int apart = 1; apart < 32; apart *= 2) {
        const Index before = __shfl_up_sync(kFullWarp, up_to_mine, apart);
        if (lane >= apart) up_to_mine += before;
      }
      if (bin[round] == kLongBin) rank[round] = up_to_mine - long_tasks;
      if (lane == 31) places[unit][kLongBin] = up_to_mine;
    }
  }
  __syncthreads();
  if (threadIdx.x < kAllBins) {
    Index total = 0;
    for (int unit = 0; unit < kUnits; ++unit) total += places[unit][threadIdx.x];
    Index next = 0;
    if (threadIdx.x == kLongBin) {
      next = bins.long_starts[blockIdx.x];
    } else if (total > 0) {
      next = atomicAdd(&bins.taken[window_key + threadIdx.x], total);
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
    const bool is_row = row < shape.rows;
    Offset begin = 0, length = 0, place = 0, first_part = 0;
    CutRow cut{};
    if (is_row) {
      begin = shape.begin_of(row);
      length = shape.length_of(row);
      const Index in_bin = places[unit][bin[round]] + rank[round];
      const bool is_long = bin[round] == kLongBin;
      const int key = window_key + bin[round];
      place = shape.first_row_task + in_bin + (is_long ? 0 : bins.starts[key].tasks);
      if (length > shape.longest_in_strips && !is_long && in_bin + 1 == bins.counts[key]) {
        fill_up(out.tasks + place - in_bin, Offset{in_bin} + 1, 0);
      }
      if (length <= shape.longest_in_strips) {
        place_short_row(a, value_bytes, shape, bins, out, key, in_bin, static_cast<Index>(row),
                        begin, static_cast<Index>(length));
      } else if (length <= longest_whole(shape.part_entries)) {
        out.tasks[place] = {begin, static_cast<Index>(row), static_cast<Index>(length)};
      } else {
        const auto parts = static_cast<Index>(parts_of(length, shape.part_entries));
        const Index groups = groups_of(parts);
        if (!is_long) {
          first_part = static_cast<Offset>(
              atomicAdd(&totals->parts, static_cast<unsigned long long>(parts - 1)));
        }
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
        out.cut_rows[cut_index] = cut;
      }
      cut_index = __shfl_sync(kFullWarp, cut_index, owner);
      const Index parts = __shfl_sync(kFullWarp, cut.parts, owner);
      const Index slot = __shfl_sync(kFullWarp, cut.first_slot, owner);
      const Offset from = __shfl_sync(kFullWarp, begin, owner);
      const Offset entries = __shfl_sync(kFullWarp, length, owner);
      const Offset own_place = __shfl_sync(kFullWarp, place, owner);
      const bool is_long = __shfl_sync(kFullWarp, bin[round], owner) == kLongBin;
      const Offset part_place =
          shape.first_row_task - 1 - __shfl_sync(kFullWarp, first_part, owner);
      for (Index part = lane; part < parts; part += 32) {
        const Offset low = part_begin(from, entries, part, parts);
        const Offset size = part_begin(from, entries, part + 1, parts) - low;
        // The parts of a long row lie side by side. Of a panel all parts but the last lie before the
        // panels; the last takes the panel's own place.
        Offset to = own_place + part;
        if (!is_long) to = part + 1 < parts ? part_place - part : own_place;
        out.tasks[to] = {from + low, slot + part, static_cast<Index>(-size)};
        out.cut_of_slot[slot + part] = cut_index;
      }
    }
  }
}

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

RowTaskMaker::RowTaskMaker(const SpmmSizes& sizes, int value_bytes, Offset slices,
                           Index one_slice_cols, Index rows_each)
    : rows_(sizes.rows), rows_each_(rows_each), value_bytes_(value_bytes) {
  is_large_ = sizes.nnz >= kManyEntries;
  const bool is_narrow = sizes.dense_cols <= one_slice_cols;
  shortest_long_ = is_narrow ? kLongNarrowRow : kLongRow;
  if (!has_panels()) {
    // Slices are counted as twice as wide as the narrowest, which is what most are.
    const Offset work = sizes.nnz * ((slices + 1) / 2);
    part_entries_ = kWarpPart;
    while (part_entries_ < kLongestWarpPart && work / (2 * part_entries_) >= kEnoughParts) {
      part_entries_ *= 2;
    }
  } else {
    const Index small = is_narrow ? kNarrowPart : kPart;
    part_entries_ = is_large_ ? kLargePart : small;
  }
  const Offset blocks = (Offset{rows_} + kRowsPerBlock - 1) / kRowsPerBlock;
  // One window: as many rows as there are, or the largest multiple of a block that fits an Index.
  window_rows_ =
      is_large_ ? kWindowRows
                : static_cast<Index>(std::min(std::max<Offset>(blocks, 1) * kRowsPerBlock,
                                              Offset{kMaxIndex} / kRowsPerBlock * kRowsPerBlock));
  windows_ = std::max<Offset>((Offset{rows_} + window_rows_ - 1) / window_rows_, 1);

  // A cut row has length > 5/4 part and ceil(length / part) <= 8/5 length / part parts, and one
  // group slot for every 32 parts begun.
  max_cut_rows_ = std::min(Offset{rows_}, sizes.nnz / (longest_whole(part_entries_) + 1));
  const Offset max_row_parts = sizes.nnz / part_entries_ + max_cut_rows_;
  max_parts_ = whole_warps(sizes.nnz / part_entries_);
  max_slots_ = max_row_parts + max_row_parts / kPartsPerGroup + max_cut_rows_;
  const auto max_copied =
      static_cast<std::uint64_t>(has_panels() ? 0 : std::min(sizes.nnz, Offset{rows_} * kShortRow));

  std::uint64_t at = 0;
  const auto reserve = [&at](std::uint64_t bytes) {
    const std::uint64_t here = at;
    at += aligned(bytes);
    return here;
  };
  const auto keys = static_cast<std::uint64_t>(windows_ * kBins);
  totals_at_ = reserve(sizeof(Totals));
  counts_at_ = reserve(2 * keys * sizeof(Index));  // and `taken`
  long_starts_at_ = reserve(static_cast<std::uint64_t>(blocks) * sizeof(Index));
  counters_at_ = reserve(static_cast<std::uint64_t>(max_slots_ + max_cut_rows_) *
                         static_cast<std::uint64_t>(slices) * sizeof(Index));
  starts_at_ = reserve(keys * sizeof(BinStart));
  const auto max_gaps = static_cast<std::uint64_t>(kTasksPerWarp - 1) * keys;
  tasks_at_ =
      reserve((static_cast<std::uint64_t>(max_parts_ + rows_) + max_gaps) * sizeof(RowTask));
  order_at_ = reserve(static_cast<std::uint64_t>(rows_) * sizeof(Index));
  cols_at_ = reserve(max_copied * sizeof(Index));
  values_at_ = reserve(max_copied * static_cast<std::uint64_t>(value_bytes));
  slots_at_ = reserve(static_cast<std::uint64_t>(max_slots_) * sizeof(Index));
  cut_rows_at_ = reserve(static_cast<std::uint64_t>(max_cut_rows_) * sizeof(CutRow));
  bytes_ = at;
}

RowTasks RowTaskMaker::lay_out(void* workspace) const {
  auto* bytes = static_cast<std::byte*>(workspace);
  RowTasks result;
  result.tasks = reinterpret_cast<RowTask*>(bytes + tasks_at_);
  result.row_order = reinterpret_cast<Index*>(bytes + order_at_);
  result.short_cols = reinterpret_cast<Index*>(bytes + cols_at_);
  result.short_values = bytes + values_at_;
  result.cut_of_slot = reinterpret_cast<Index*>(bytes + slots_at_);
  result.cut_rows = reinterpret_cast<CutRow*>(bytes + cut_rows_at_);
  result.counters = reinterpret_cast<Index*>(bytes + counters_at_);
  return result;
}

void RowTaskMaker::analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream,
                           const Offset* lengths) {
  if (rows_ == 0) return;
  auto* bytes = static_cast<std::byte*>(workspace);
  // Totals, counts and counters lie together, in front.
  CHECK_CUDA(cudaMemsetAsync(bytes, 0, starts_at_, stream));
  const RowTasks out = lay_out(workspace);
  if (has_panels()) {  // before the first part there may be empty tasks
    CHECK_CUDA(cudaMemsetAsync(out.tasks, 0, static_cast<std::size_t>(max_parts_) * sizeof(RowTask),
                               stream));
  }
  Shape shape{};
  shape.offsets = a.row_offsets;
  shape.base = a.base;
  shape.kind = {lengths, rows_each_};
  shape.longest_in_strips = has_panels() ? 0 : kShortRow;
  shape.shortest_long = has_panels() ? std::numeric_limits<Offset>::max() : shortest_long_;
  shape.rows = rows_;
  shape.part_entries = part_entries_;
  shape.window_rows = window_rows_;
  shape.first_row_task = has_panels() ? max_parts_ : 0;
  const auto keys = static_cast<int>(windows_ * kBins);
  auto* counts = reinterpret_cast<Index*>(bytes + counts_at_);
  auto* starts = reinterpret_cast<BinStart*>(bytes + starts_at_);
  auto* totals = reinterpret_cast<Totals*>(bytes + totals_at_);
  const auto blocks = static_cast<unsigned>((Offset{rows_} + kRowsPerBlock - 1) / kRowsPerBlock);
  auto* long_starts = reinterpret_cast<Index*>(bytes + long_starts_at_);
  count_rows<<<blocks, kThreads, 0, stream>>>(shape, counts, long_starts);
  CHECK_LAUNCH("count_rows", stream);
  scan_counts<<<1, kScanThreads, 0, stream>>>(long_starts, static_cast<int>(blocks), counts, starts,
                                              keys, shape.longest_in_strips, totals);
  CHECK_LAUNCH("scan_counts", stream);
  place_rows<<<blocks, kThreads, 0, stream>>>(
      a, value_bytes_, shape, BinOf{long_starts, counts, counts + keys, starts}, out, totals);
  CHECK_LAUNCH("place_rows", stream);
}

RowTasks RowTaskMaker::finish(void* workspace, cudaStream_t stream) const {
  RowTasks result = lay_out(workspace);
  if (rows_ == 0) return result;
  Totals totals{};
  CHECK_CUDA(cudaMemcpyAsync(&totals, static_cast<std::byte*>(workspace) + totals_at_,
                             sizeof totals, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  const auto parts = static_cast<Offset>(totals.parts);
  const auto tasks = static_cast<Offset>(totals.tasks);
  if (has_panels()) {
    result.first_task = max_parts_ - whole_warps(parts);
    result.task_count = whole_warps(parts) + tasks;
  } else {
    result.warp_task_count = static_cast<Offset>(totals.long_tasks);
    result.task_count = tasks - result.warp_task_count;
  }
  result.counter_count = static_cast<Offset>(totals.counters);
  return result;
}

}  // namespace csrkit::gpu

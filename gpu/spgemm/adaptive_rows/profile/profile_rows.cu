// Profile of adaptive_rows: one pass over A's entries and the row ends of B.
// Owns     a lane: one short row of A, all its loads in flight at once; 8 lanes: a longer one; a
//          warp: one of more than 128 entries; a block: 8 to 256 rows, of which all threads share
//          those of more than 512 entries; then a lane per row decides. Rows of more than 1,024
//          entries are left to a second launch, with a block for each 1,024 entries. Where A has
//          enough entries a row, rows of 17 to 512 entries (of 9 on, if most are shorter) find
//          another row with the same columns by a hash, and compare
// Reads    A coalesced in 8 lanes; per entry of A two offsets and two columns of B, mostly from L2
// Launch   256 threads
// Against  a pass over all products, which would read B's columns once more than counting needs

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spgemm/adaptive_rows/profile/bin_counts.cuh"
#include "gpu/spgemm/adaptive_rows/profile/find_twins.cuh"
#include "gpu/spgemm/adaptive_rows/profile/profile.h"
#include "gpu/spgemm/adaptive_rows/profile/row_span.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kFewLanes = 8;
constexpr int kRowsPerBlock = kThreads / kFewLanes;
constexpr int kWarps = kThreads / 32;
constexpr int kMostRounds = kFewLanes;  // then every thread of a block has a row to finish
/// With fewer rows, blocks take fewer each, down to one for each warp: more blocks are then worth
/// more than few atomics.
constexpr Offset kRowsToFillADevice = 1 << 15;
constexpr int kFewestRows = kWarps;
/// The most entries of a row of A for one warp; the block takes longer rows.
constexpr Offset kMostOfAWarp = 512;

/// Whether a row takes as many rows of B as the row before it (for the first row: after it), and
/// near them.
__device__ bool is_like_neighbour(const DeviceCsrView<void>& a, Index row) {
  const Index other = row > 0 ? row - 1 : 1;
  if (other >= a.rows) return false;
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  const Offset other_begin = a.row_begin(other), other_end = a.row_end(other);
  if (begin == end || end - begin != other_end - other_begin || end - begin > 8) return false;
  const Index first = __ldg(a.col_indices + begin) - __ldg(a.col_indices + other_begin);
  const Index last = __ldg(a.col_indices + end - 1) - __ldg(a.col_indices + other_end - 1);
  return first >= -kNearSources && first <= kNearSources && last >= -kNearSources &&
         last <= kNearSources;
}

/// What a block knows of its rows, in shared memory.
template <bool kFindsTwins>
struct BlockRows {
  static constexpr int kMost = kRowsPerBlock * kMostRounds;

  /// Rows that wait for a few lanes, a warp or the block, by their number in the block.
  struct Waiting {
    int rows[kMost];
    int count;
    __device__ void add(int row) { rows[atomicAdd(&count, 1)] = row; }
  };

  Offset first;
  Span spans[kMost];
  Waiting for_lanes, for_warp, for_block;
  bool is_twin[kFindsTwins ? kMost : 1];  // of a row that was met before

  /// By one thread.
  __device__ void begin(Offset first_row) {
    first = first_row;
    for_lanes.count = for_warp.count = for_block.count = 0;
  }
  __device__ Index row(int number) const { return static_cast<Index>(first + number); }
};

/// Leaves a row of very many entries to profile_long_rows.
__device__ void add_to_long_rows(const LongRows& long_rows, Index row, Offset entries,
                                 BinTotals* totals) {
  const auto chunks = static_cast<std::uint32_t>((entries + kSpreadSources - 1) / kSpreadSources);
  const std::uint32_t number = atomicAdd(&totals->long_rows, 1u);
  long_rows.rows[number] = {0, row, INT32_MAX, -1, chunks};
  const std::uint32_t at = atomicAdd(&totals->chunks, chunks);
  for (std::uint32_t i = 0; i < chunks; ++i) long_rows.chunks[at + i] = {number, i};
}

/// By a lane: finds the span of its row if the row is short, or says who will.
template <bool kFindsTwins>
__device__ void profile_own_row(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                                const BinRules& rules, const RowProfile& profile, int number,
                                BlockRows<kFindsTwins>& block, const LongRows& long_rows,
                                BinTotals* totals) {
  const Index row = block.row(number);
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  Span span = Span::none();
  if (end - begin > rules.fewest_spread) {
    span = Span::unknown();
    add_to_long_rows(long_rows, row, end - begin, totals);
  } else if (end - begin > kMostOfAWarp) {
    block.for_block.add(number);
  } else if (end - begin > rules.most_of_eight_lanes) {
    block.for_warp.add(number);
  } else if (end - begin > rules.most_of_a_lane) {
    block.for_lanes.add(number);
  } else {
#pragma unroll 4
    for (Offset at = begin; at < end; ++at) span.add_length(b, __ldg(a.col_indices + at));
    if (!rules.needs_range(span.products)) {
      span.first = 0;
      span.last = b.cols - 1;
    } else {
      for (Offset at = begin; at < end; ++at) span.add_range(b, __ldg(a.col_indices + at));
    }
  }
  block.spans[number] = span;
  if constexpr (kFindsTwins) {
    block.is_twin[number] = false;
    profile.twins[row] = 0;
    __threadfence();  // before other blocks can see it
  }
}

/// Finds the spans of waiting rows, kLanes lanes each, and whether they are twins. By all threads
/// of the block.
template <int kLanes, bool kFindsTwins>
__device__ void profile_by_lanes(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                                 const RowProfile& profile,
                                 const typename BlockRows<kFindsTwins>::Waiting& waiting,
                                 BlockRows<kFindsTwins>& block) {
  const int lane = static_cast<int>(threadIdx.x) & (kLanes - 1);
  for (int first = 0; first < waiting.count; first += kThreads / kLanes) {
    const int at_list = first + static_cast<int>(threadIdx.x) / kLanes;
    const bool has_row = at_list < waiting.count;
    const int number = has_row ? waiting.rows[at_list] : 0;
    const Index row = has_row ? block.row(number) : 0;
    const Offset begin = has_row ? a.row_begin(row) : 0, end = has_row ? a.row_end(row) : 0;
    Span span = Span::none();
    [[maybe_unused]] std::uint32_t mix = 0;
#pragma unroll 4
    for (Offset at = begin + lane; at < end; at += kLanes) {
      const Index source = __ldg(a.col_indices + at);
      span.add_length(b, source);
      span.add_range(b, source);
      if constexpr (kFindsTwins) mix += scrambled(source);
    }
    __syncwarp();
    span.add_lanes(kLanes);
    if (has_row && lane == 0) block.spans[number] = span;
    if constexpr (kFindsTwins) {
      for (int distance = 1; distance < kLanes; distance *= 2) {
        mix += __shfl_xor_sync(kAllLanes, mix, distance);
      }
      if (joins_twins<kLanes>(a, profile, has_row, row, mix)) block.is_twin[number] = true;
    }
  }
}

/// The same by all threads for one row after the other; such rows are no twins.
template <bool kFindsTwins>
__device__ void profile_by_block(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                                 BlockRows<kFindsTwins>& block) {
  __shared__ Span of_warps[kWarps];
  for (int i = 0; i < block.for_block.count; ++i) {
    const int number = block.for_block.rows[i];
    const Offset end = a.row_end(block.row(number));
    Span span = Span::none();
    for (Offset at = a.row_begin(block.row(number)) + threadIdx.x; at < end; at += kThreads) {
      const Index source = __ldg(a.col_indices + at);
      span.add_length(b, source);
      span.add_range(b, source);
    }
    __syncwarp();
    span.add_lanes(32);
    if ((threadIdx.x & 31) == 0) of_warps[threadIdx.x >> 5] = span;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int warp = 1; warp < kWarps; ++warp) span.add(of_warps[warp]);
      block.spans[number] = span;
    }
    __syncthreads();
  }
}

/// Adds a block's products and its longest row in a bit range to the totals; a row per lane.
__device__ void add_products(unsigned long long products, std::uint32_t longest,
                             BinTotals* totals) {
  __shared__ unsigned long long products_of[kWarps];
  __shared__ std::uint32_t longest_of[kWarps];
  for (int distance = 1; distance < 32; distance *= 2) {
    products += __shfl_xor_sync(kAllLanes, products, distance);
  }
  longest = __reduce_max_sync(kAllLanes, longest);
  if ((threadIdx.x & 31) == 0) {
    products_of[threadIdx.x >> 5] = products;
    longest_of[threadIdx.x >> 5] = longest;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kWarps; ++warp) {
    products += products_of[warp];
    longest = max(longest, longest_of[warp]);
  }
  if (products > 0) atomicAdd(&totals->products, products);
  if (longest > 0) atomicMax(&totals->longest, static_cast<unsigned long long>(longest));
}

/// A block takes `rows` neighbouring rows. As many blocks as can be are on a multiprocessor, as
/// loads are what they wait for.
template <bool kFindsTwins>
__global__ void __launch_bounds__(kThreads, kFindsTwins ? 6 : 8)
    profile_row_groups(DeviceCsrView<void> a, DeviceCsrView<void> b, BinRules rules,
                       RowProfile profile, LongRows long_rows, BinTotals* totals, int rows) {
  __shared__ BinCounts bins;
  __shared__ BlockRows<kFindsTwins> block;
  const Offset first_row = Offset{blockIdx.x} * rows;
  bins.clear();
  if (threadIdx.x == 0) block.begin(first_row);
  __syncthreads();

  const int own = static_cast<int>(threadIdx.x);
  const bool is_of_block = own < rows && first_row + own < a.rows;
  if (is_of_block) profile_own_row(a, b, rules, profile, own, block, long_rows, totals);
  __syncthreads();
  profile_by_lanes<32, kFindsTwins>(a, b, profile, block.for_warp, block);
  profile_by_lanes<kFewLanes, kFindsTwins>(a, b, profile, block.for_lanes, block);
  __syncthreads();
  profile_by_block(a, b, block);

  // A lane per row decides.
  const bool has_row = is_of_block && block.spans[own].is_known();
  // Only if nearly all short rows of the block are like their neighbours; a few may be so by
  // chance. Warps where no row may merge are not asked, and do not speak against it.
  const bool may_merge = has_row && rules.may_merge(block.spans[own].products);
  const bool are_asked = __any_sync(kAllLanes, may_merge) != 0;
  bool is_like = has_row && (!are_asked || is_like_neighbour(a, block.row(own)));
  const int like_rows = __syncthreads_count(static_cast<int>(is_like));
  is_like = is_like && like_rows * 16 >= min(a.rows - first_row, Offset{rows}) * 15;
  unsigned long long products = 0, parts = 0;
  CountBin bin = CountBin::done;
  RowFacts facts;
  if (has_row) {
    products = block.spans[own].products;
    const bool has_twin = kFindsTwins && block.is_twin[kFindsTwins ? own : 0];
    bin = decide(a, rules, profile, totals, block.row(own), block.spans[own], is_like, has_twin,
                 facts, parts);
  }
  const bool in_bit_range = is_bit_range(bin) || bin == CountBin::twin;
  if (__any_sync(kAllLanes, in_bit_range)) {
    const std::uint32_t kept_words = is_bit_range(bin) ? rules.kept_words(facts) : 0;
    const std::uint32_t first_bits = find_first_bits(rules, facts, kept_words, totals);
    if (in_bit_range) profile.first_bits[block.row(own)] = first_bits;
  }
  if (__any_sync(kAllLanes, parts > 0)) {
    for (int distance = 1; distance < 32; distance *= 2) {
      parts += __shfl_xor_sync(kAllLanes, parts, distance);
    }
    if ((threadIdx.x & 31) == 0) atomicAdd(&totals->parts, parts);
  }
  bins.add_row(has_row, static_cast<int>(bin));
  add_products(products, in_bit_range ? facts.products : 0, totals);  // has a barrier
  bins.add_to(totals->rows);
}

}  // namespace

void profile_rows(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b, const BinRules& rules,
                  const RowProfile& profile, const LongRows& long_rows, BinTotals* totals,
                  cudaStream_t stream) {
  int rows = kRowsPerBlock *
             static_cast<int>(std::clamp<Offset>(a.rows / kRowsToFillADevice, 1, kMostRounds));
  // Whether rows are merged is asked block by block, so there blocks stay as they are.
  while (!rules.prefers_merging && rows > kFewestRows &&
         rows * kRowsToFillADevice > Offset{a.rows} * kRowsPerBlock) {
    rows /= 2;
  }
  const unsigned blocks = blocks_of(a.rows, rows);
  if (rules.prefers_twins) {
    profile_row_groups<true>
        <<<blocks, kThreads, 0, stream>>>(a, b, rules, profile, long_rows, totals, rows);
  } else {
    profile_row_groups<false>
        <<<blocks, kThreads, 0, stream>>>(a, b, rules, profile, long_rows, totals, rows);
  }
  CHECK_LAUNCH("profile_row_groups", stream);
  profile_chunks(a, b, rules, profile, long_rows, totals, stream);
}

}  // namespace csrkit::gpu

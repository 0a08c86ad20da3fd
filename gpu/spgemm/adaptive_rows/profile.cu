// Profile of adaptive_rows: one pass over A's entries and the row ends of B.
// Owns     a lane: one short row of A, all its loads in flight at once; 8 lanes: a longer one; a
//          warp: one of more than 128 entries; a block: 32 to 256 rows, of which all threads share
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
#include "gpu/spgemm/adaptive_rows/profile.h"
#include "gpu/spgemm/adaptive_rows/row_groups.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kFewLanes = 8;
constexpr int kRowsPerBlock = kThreads / kFewLanes;
constexpr int kWarps = kThreads / 32;
constexpr int kMostRounds = kFewLanes;  // then every thread of a block has a row to finish
constexpr Offset kRowsToFillADevice = 1
                                      << 15;  // below, more blocks are worth more than few atomics
constexpr Offset kManyRows = 1 << 19;         // then a block chooses bins for a thousand rows
/// The most entries of a row of A for one warp; the block takes longer rows.
constexpr Offset kMostOfAWarp = 512;

/// Of the products of some entries of A.
struct Span {
  unsigned long long products;
  Index first;  // columns
  Index last;

  static __device__ Span none() { return {0, INT32_MAX, -1}; }
  /// Of a row that is left to profile_long_rows.
  static __device__ Span unknown() { return {0, INT32_MAX, -2}; }
  __device__ bool is_known() const { return last != -2; }
  __device__ void add_length(const DeviceCsrView<void>& b, Index source) {
    products += static_cast<unsigned long long>(b.row_end(source) - b.row_begin(source));
  }
  __device__ void add_range(const DeviceCsrView<void>& b, Index source) {
    const Offset begin = b.row_begin(source), end = b.row_end(source);
    if (begin == end) return;
    first = min(first, __ldg(b.col_indices + begin));
    last = max(last, __ldg(b.col_indices + end - 1));
  }
  __device__ void add(const Span& other) {
    products += other.products;
    first = min(first, other.first);
    last = max(last, other.last);
  }
  __device__ void add_lanes(int lanes) {
    for (int distance = 1; distance < lanes; distance *= 2) {
      add({__shfl_xor_sync(kAllLanes, products, distance),
           __shfl_xor_sync(kAllLanes, first, distance),
           __shfl_xor_sync(kAllLanes, last, distance)});
    }
  }
};

/// A block's contribution to the totals. Adding it row by row would take longer than the rest: the
/// atomics meet at few addresses.
struct BlockTotals {
  std::uint32_t rows[kMostBins];
  unsigned long long products[kWarps];
  std::uint32_t longest[kWarps];  // of rows in bit ranges
};

__device__ void clear(BlockTotals& block) {
  if (threadIdx.x < kMostBins) block.rows[threadIdx.x] = 0;
}

/// One row per lane. By all lanes.
__device__ void add_row(BlockTotals& block, bool has_row, int bin) {
  const unsigned mates = __match_any_sync(kAllLanes, has_row ? bin : kMostBins);
  const bool is_first = (mates & ((1u << (threadIdx.x & 31)) - 1)) == 0;
  if (has_row && is_first) {
    atomicAdd(&block.rows[bin], static_cast<std::uint32_t>(__popc(mates)));
  }
}

__device__ void add_to_totals(const BlockTotals& block, BinTotals* totals) {
  if (threadIdx.x < kMostBins && block.rows[threadIdx.x] > 0) {
    atomicAdd(&totals->rows[threadIdx.x], block.rows[threadIdx.x]);
  }
}

/// Whether the rows of B that a row takes lie near those of the row before it (for the first row:
/// after it).
__device__ bool is_like_neighbour(const DeviceCsrView<void>& a, Index row) {
  const Index other = row > 0 ? row - 1 : 1;
  if (other >= a.rows) return false;
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  const Offset other_begin = a.row_begin(other), other_end = a.row_end(other);
  if (begin == end || other_begin == other_end || end - begin > 8) return false;
  const Index first = __ldg(a.col_indices + begin) - __ldg(a.col_indices + other_begin);
  const Index last = __ldg(a.col_indices + end - 1) - __ldg(a.col_indices + other_end - 1);
  return first >= -kNearSources && first <= kNearSources && last >= -kNearSources &&
         last <= kNearSources;
}

__device__ bool is_bit_range(CountBin bin) {
  return bin == CountBin::bit_range_warp || bin == CountBin::bit_range_block;
}

/// Scrambles a column, so that sums of scrambled columns distinguish sets of columns.
__device__ std::uint32_t scrambled(Index col) {
  std::uint32_t x = static_cast<std::uint32_t>(col) * 0x9E3779B1u;
  x = (x ^ x >> 15) * 0x85EBCA6Bu;
  return x ^ x >> 13;
}

/// Whether the row becomes a twin of one that was met before, for the kLanes lanes that share the
/// row. `mix` is the sum of its scrambled columns. By all lanes of the warp.
template <int kLanes>
__device__ bool joins_twins(const DeviceCsrView<void>& a, const RowProfile& profile, bool has_row,
                            Index row, std::uint32_t mix) {
  const unsigned lane = threadIdx.x & (kLanes - 1);
  std::uint32_t* const place = profile.met + ((mix * 0x9E3779B1u) >> (32 - profile.log2_met));
  std::uint32_t met = 0;
  if (has_row && lane == 0) {
    met = *static_cast<volatile std::uint32_t*>(place);
    if (met == 0) met = atomicCAS(place, 0u, static_cast<std::uint32_t>(row) + 1);
  }
  met = __shfl_sync(kAllLanes, met, 0, kLanes);
  const bool has_other = has_row && met != 0;
  const Index other = has_other ? static_cast<Index>(met - 1) : row;
  const Offset begin = a.row_begin(row), length = a.row_end(row) - begin;
  const Offset other_begin = a.row_begin(other);
  bool is_same = has_other && a.row_end(other) - other_begin == length;
  for (Offset i = lane; is_same && i < length; i += kLanes) {
    is_same = __ldg(a.col_indices + begin + i) == __ldg(a.col_indices + other_begin + i);
  }
  __syncwarp();
  const unsigned differ = __ballot_sync(kAllLanes, !is_same) >> (threadIdx.x & 31 & ~(kLanes - 1));
  if (!has_other || lane != 0) return false;
  if ((differ & (kAllLanes >> (32 - kLanes))) == 0) {
    const std::uint32_t number = atomicAdd(profile.twins + other, 1u);
    if (number < kMostTwins - 1) {
      profile.counted[row] = other;
      profile.twin_rows[Offset{other} * (kMostTwins - 1) + number] = row;
      return true;
    }
  }
  *static_cast<volatile std::uint32_t*>(place) = static_cast<std::uint32_t>(row) + 1;
  return false;
}

/// The value of first_bits for words that begin at `first`: kNotKept beyond 31 bits.
__device__ std::uint32_t first_bits_at(const BinRules& rules, const RowFacts& row,
                                       std::uint32_t words, unsigned long long first) {
  if (words == 0 || first + words >= RowProfile::kInPairs) return RowProfile::kNotKept;
  return static_cast<std::uint32_t>(first) | (rules.keeps_bits(row) ? 0 : RowProfile::kInPairs);
}

/// Reserves room for the words of each lane's row, and returns where they begin.
__device__ std::uint32_t find_first_bits(const BinRules& rules, const RowFacts& row,
                                         std::uint32_t words, BinTotals* totals) {
  unsigned long long of_warp = 0, first = 0;
  const auto before = Group<32>::exclusive_sum<unsigned long long>(words, of_warp, nullptr);
  if (of_warp == 0) return RowProfile::kNotKept;
  if ((threadIdx.x & 31) == 0) first = atomicAdd(&totals->kept_words, of_warp);
  first = __shfl_sync(kAllLanes, first, 0) + before;
  return first_bits_at(rules, row, words, first);
}

/// Needs few atomics, as most rows are shorter than the longest so far.
__device__ void keep_longest(unsigned long long& longest, unsigned long long nanoseconds) {
  if (nanoseconds > *static_cast<volatile unsigned long long*>(&longest)) {
    atomicMax(&longest, nanoseconds);
  }
}

/// A row of more than kHubSources.
__device__ void add_long_row(BinRules rules, const RowFacts& row, unsigned long long products,
                             BinTotals* totals) {
  HubTotals& all = totals->long_row_totals;
  const unsigned long long nanoseconds = row_nanoseconds(row.sources, products);
  if (row.products == UINT32_MAX || !may_be_hub(row.sources, row.products)) {  // as in is_hub
    keep_longest(all.longest_other, nanoseconds);
    return;
  }
  HubTotals::Level& level = all.levels[hub_level_of(row.sources)];
  const auto sources = static_cast<unsigned long long>(row.sources);
  atomicAdd(&level.sources, sources);
  atomicAdd(&level.products, products);
  rules.hub_sources = kNoHubs;
  if (rules.count_bin(row) == CountBin::parts) {
    atomicAdd(&level.searches, sources * rules.parts_of(row));
  }
  keep_longest(level.longest, nanoseconds);
}

/// Decides a row's bin from its span. `parts`: into how many it is cut, if it is.
__device__ CountBin decide(const DeviceCsrView<void>& a, const BinRules& rules,
                           const RowProfile& profile, BinTotals* totals, Index row,
                           const Span& span, bool is_like_neighbour, bool is_twin, RowFacts& facts,
                           unsigned long long& parts) {
  facts = {};
  const Index first_word = span.products > 0 ? span.first >> kWordLog2 : 0;
  facts.sources = a.row_end(row) - a.row_begin(row);
  facts.products =
      span.products > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(span.products);
  if (span.products > 0) {
    facts.words = static_cast<std::uint32_t>((span.last >> kWordLog2) - first_word + 1);
  }
  facts.is_like_neighbour = is_like_neighbour;
  CountBin bin = rules.count_bin(facts);
  if (is_twin && is_bit_range(bin)) bin = CountBin::twin;
  if (is_twin && BinRules::sorts_twins(bin)) bin = CountBin::sorted_twin;
  profile.products[row] = facts.products;
  profile.first_word[row] = first_word;
  profile.words[row] = static_cast<Index>(facts.words);
  profile.bin[row] = static_cast<std::uint8_t>(bin);
  profile.counts[row] = bin == CountBin::done ? facts.products : 0;
  parts = 0;
  if (bin == CountBin::parts) {
    parts = rules.parts_of(facts);
    atomicMax(&totals->most_part_words,
              static_cast<unsigned long long>(rules.part_words(facts.products, facts.words)));
  } else if (bin == CountBin::hubs) {
    atomicAdd(&totals->hub_entries, static_cast<unsigned long long>(facts.sources));
    atomicAdd(&totals->hub_products, span.products);
  }
  if (span.products > kFewestCutProducts / rules.shrink && span.products < UINT32_MAX) {
    const unsigned long long alone = row_nanoseconds(facts.sources, span.products);
    if (alone > kLeastCut) keep_longest(totals->longest_alone, alone);
  }
  if (facts.sources > kHubSources) add_long_row(rules, facts, span.products, totals);
  return bin;
}

/// Finds the spans of the listed rows, kLanes lanes each, and whether they are twins. By all
/// threads of the block.
template <int kLanes, bool kFindsTwins>
__device__ void profile_listed(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                               const RowProfile& profile, Offset first_row, const int* slots,
                               int count, Span* spans, [[maybe_unused]] bool* is_twin) {
  const int lane = static_cast<int>(threadIdx.x) & (kLanes - 1);
  for (int first = 0; first < count; first += kThreads / kLanes) {
    const int at_list = first + static_cast<int>(threadIdx.x) / kLanes;
    const bool has_row = at_list < count;
    const Index row = has_row ? static_cast<Index>(first_row + slots[at_list]) : 0;
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
    if (has_row && lane == 0) spans[slots[at_list]] = span;
    if constexpr (kFindsTwins) {
      for (int distance = 1; distance < kLanes; distance *= 2) {
        mix += __shfl_xor_sync(kAllLanes, mix, distance);
      }
      if (joins_twins<kLanes>(a, profile, has_row, row, mix)) is_twin[slots[at_list]] = true;
    }
  }
}

/// A block takes `rounds` times kRowsPerBlock neighbouring rows.
template <bool kFindsTwins>
__global__ void __launch_bounds__(kThreads)
    profile_row_groups(DeviceCsrView<void> a, DeviceCsrView<void> b, BinRules rules,
                       RowProfile profile, LongRows all_long_rows, BinTotals* totals, int rounds) {
  __shared__ BlockTotals block;
  __shared__ Span spans[kRowsPerBlock * kMostRounds];
  // Those that a few lanes, a warp and the block work on.
  __shared__ int longer_rows[kRowsPerBlock * kMostRounds];
  __shared__ int warp_rows[kRowsPerBlock * kMostRounds];
  __shared__ int long_rows[kRowsPerBlock * kMostRounds];
  __shared__ int longer_count, warp_count, long_count;
  __shared__ Span of_warps[kWarps];
  // Of a row that was met before.
  __shared__ bool is_twin[kFindsTwins ? kRowsPerBlock * kMostRounds : 1];
  clear(block);
  if (threadIdx.x == 0) longer_count = warp_count = long_count = 0;
  __syncthreads();

  const Offset first_row = Offset{blockIdx.x} * kRowsPerBlock * rounds;
  const int slot = static_cast<int>(threadIdx.x);
  if (slot < kRowsPerBlock * rounds && first_row + slot < a.rows) {
    const Index row = static_cast<Index>(first_row + slot);
    const Offset begin = a.row_begin(row), end = a.row_end(row);
    Span span = Span::none();
    if (end - begin > rules.fewest_spread) {
      span = Span::unknown();
      const auto chunks =
          static_cast<std::uint32_t>((end - begin + kSpreadSources - 1) / kSpreadSources);
      const std::uint32_t number = atomicAdd(&totals->long_rows, 1u);
      all_long_rows.rows[number] = {0, row, INT32_MAX, -1, chunks};
      const std::uint32_t at = atomicAdd(&totals->chunks, chunks);
      for (std::uint32_t i = 0; i < chunks; ++i) all_long_rows.chunks[at + i] = {number, i};
    } else if (end - begin > kMostOfAWarp) {
      long_rows[atomicAdd(&long_count, 1)] = slot;
    } else if (end - begin > rules.most_of_eight_lanes) {
      warp_rows[atomicAdd(&warp_count, 1)] = slot;
    } else if (end - begin > rules.most_of_a_lane) {
      longer_rows[atomicAdd(&longer_count, 1)] = slot;
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
    spans[slot] = span;
    if constexpr (kFindsTwins) {
      is_twin[slot] = false;
      profile.twins[row] = 0;
      __threadfence();  // before other blocks can see it
    }
  }
  __syncthreads();

  profile_listed<32, kFindsTwins>(a, b, profile, first_row, warp_rows, warp_count, spans, is_twin);
  profile_listed<kFewLanes, kFindsTwins>(a, b, profile, first_row, longer_rows, longer_count, spans,
                                         is_twin);
  __syncthreads();

  for (int i = 0; i < long_count; ++i) {
    const Index row = static_cast<Index>(first_row + long_rows[i]);
    const Offset end = a.row_end(row);
    Span span = Span::none();
    for (Offset at = a.row_begin(row) + threadIdx.x; at < end; at += kThreads) {
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
      spans[long_rows[i]] = span;
    }
    __syncthreads();
  }

  // A lane per row decides.
  const bool has_row = static_cast<int>(threadIdx.x) < rounds * kRowsPerBlock &&
                       first_row + threadIdx.x < a.rows && spans[threadIdx.x].is_known();
  // Only if nearly all short rows of the block are like their neighbours; a few may be so by
  // chance.
  bool is_like = rules.prefers_merging && has_row &&
                 is_like_neighbour(a, static_cast<Index>(first_row + threadIdx.x));
  const int like_rows = __syncthreads_count(static_cast<int>(is_like));
  is_like =
      is_like && like_rows * 16 >= min(a.rows - first_row, Offset{kRowsPerBlock} * rounds) * 15;
  unsigned long long products = 0, parts = 0;
  CountBin bin = CountBin::done;
  RowFacts facts;
  if (has_row) {
    const Index row = static_cast<Index>(first_row + threadIdx.x);
    products = spans[threadIdx.x].products;
    const bool has_twin = kFindsTwins && is_twin[kFindsTwins ? threadIdx.x : 0];
    bin =
        decide(a, rules, profile, totals, row, spans[threadIdx.x], is_like, has_twin, facts, parts);
  }
  const bool in_bit_range = is_bit_range(bin) || bin == CountBin::twin;
  std::uint32_t longest = 0;
  if (__any_sync(kAllLanes, in_bit_range)) {
    const std::uint32_t kept_words = is_bit_range(bin) ? rules.kept_words(facts) : 0;
    const std::uint32_t first_bits = find_first_bits(rules, facts, kept_words, totals);
    if (in_bit_range) profile.first_bits[first_row + threadIdx.x] = first_bits;
    longest = __reduce_max_sync(kAllLanes, in_bit_range ? facts.products : 0);
  }
  if (__any_sync(kAllLanes, parts > 0)) {
    for (int distance = 1; distance < 32; distance *= 2) {
      parts += __shfl_xor_sync(kAllLanes, parts, distance);
    }
    if ((threadIdx.x & 31) == 0) atomicAdd(&totals->parts, parts);
  }
  add_row(block, has_row, static_cast<int>(bin));
  for (int distance = 1; distance < 32; distance *= 2) {
    products += __shfl_xor_sync(kAllLanes, products, distance);
  }
  if ((threadIdx.x & 31) == 0) {
    block.products[threadIdx.x >> 5] = products;
    block.longest[threadIdx.x >> 5] = longest;
  }
  __syncthreads();
  add_to_totals(block, totals);
  if (threadIdx.x == 0) {
    unsigned long long of_block = longest;
    for (int warp = 1; warp < kWarps; ++warp) {
      products += block.products[warp];
      of_block = max(of_block, static_cast<unsigned long long>(block.longest[warp]));
    }
    if (products > 0) atomicAdd(&totals->products, products);
    if (of_block > 0) atomicMax(&totals->longest, of_block);
  }
}

/// Adds to `alike` how many of `count` rows, spread over A, have the columns of the next.
__global__ void __launch_bounds__(kThreads)
    count_like_next(DeviceCsrView<void> a, int count, std::uint32_t* alike) {
  const int sample = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  bool is_same = sample < count;
  if (is_same) {
    const auto row = static_cast<Index>(Offset{sample} * (a.rows - 1) / count);
    const Offset begin = a.row_begin(row), next = a.row_end(row), length = next - begin;
    is_same = length > 0 && length <= kMostOfAWarp && a.row_end(row + 1) - next == length;
    for (Offset i = 0; is_same && i < length; ++i) {
      is_same = __ldg(a.col_indices + begin + i) == __ldg(a.col_indices + next + i);
    }
  }
  const int of_block = __syncthreads_count(static_cast<int>(is_same));
  if (threadIdx.x == 0 && of_block > 0) atomicAdd(alike, static_cast<std::uint32_t>(of_block));
}

/// The rows that profile_row_groups left out. A block takes a chunk at a time, four entries of A
/// per lane at once; the last block of a row decides. There are few such rows, so their totals are
/// added one by one.
__global__ void __launch_bounds__(kThreads)
    profile_long_rows(DeviceCsrView<void> a, DeviceCsrView<void> b, BinRules rules,
                      RowProfile profile, LongRows long_rows, BinTotals* totals) {
  constexpr int kAtOnce = kSpreadSources / kThreads;
  __shared__ Span of_warps[kWarps];
  const std::uint32_t chunks = totals->chunks;
  for (std::uint32_t item = blockIdx.x; item < chunks; item += gridDim.x) {
    const LongRowChunk chunk = long_rows.chunks[item];
    LongRow& row = long_rows.rows[chunk.long_row];
    const Offset begin = a.row_begin(row.row) + Offset{chunk.number} * kSpreadSources + threadIdx.x;
    const Offset end = a.row_end(row.row);
    Index source[kAtOnce];
    Offset first[kAtOnce], last[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const Offset at = begin + u * kThreads;
      source[u] = at < end ? __ldg(a.col_indices + at) : -1;
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      first[u] = source[u] >= 0 ? b.row_begin(source[u]) : 0;
      last[u] = source[u] >= 0 ? b.row_end(source[u]) : 0;
    }
    Span span = Span::none();
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (first[u] == last[u]) continue;
      span.add({static_cast<unsigned long long>(last[u] - first[u]),
                __ldg(b.col_indices + first[u]), __ldg(b.col_indices + last[u] - 1)});
    }
    __syncwarp();
    span.add_lanes(32);
    __syncthreads();  // of the chunk before
    if ((threadIdx.x & 31) == 0) of_warps[threadIdx.x >> 5] = span;
    __syncthreads();
    if (threadIdx.x != 0) continue;
    for (int warp = 1; warp < kWarps; ++warp) span.add(of_warps[warp]);
    atomicAdd(&row.products, span.products);
    atomicMin(&row.first, span.first);
    atomicMax(&row.last, span.last);
    __threadfence();
    if (atomicSub(&row.chunks_left, 1u) != 1) continue;
    __threadfence();
    const volatile LongRow& whole = row;
    unsigned long long parts = 0;
    const Span of_row = {whole.products, whole.first, whole.last};
    RowFacts facts;
    const CountBin bin =
        decide(a, rules, profile, totals, row.row, of_row, false, false, facts, parts);
    if (is_bit_range(bin)) {
      const std::uint32_t kept_words = rules.kept_words(facts);
      const unsigned long long first =
          kept_words > 0 ? atomicAdd(&totals->kept_words, kept_words) : 0;
      profile.first_bits[row.row] = first_bits_at(rules, facts, kept_words, first);
      atomicMax(&totals->longest, static_cast<unsigned long long>(facts.products));
    }
    atomicAdd(&totals->rows[static_cast<int>(bin)], 1u);
    atomicAdd(&totals->products, of_row.products);
    if (parts > 0) atomicAdd(&totals->parts, parts);
  }
}

/// The state of a block is nothing yet, its own sum, or that of all blocks up to it.
constexpr unsigned long long kOfBlock = 1ull << 62, kOfAll = 2ull << 62;

/// Decoupled look-back (Merrill and Garland 2016), by one warp: returns the sum of all blocks
/// before this one, whose own sum is `of_block`. Blocks start in order, so a block that is waited
/// for is running.
__device__ unsigned long long sum_of_blocks_before(volatile unsigned long long* states,
                                                   unsigned long long of_block) {
  const auto lane = static_cast<int>(threadIdx.x & 31);
  const Offset block = blockIdx.x;
  if (lane == 0) states[block] = (block == 0 ? kOfAll : kOfBlock) | of_block;
  unsigned long long before = 0;
  unsigned with_all = 0;
  for (Offset last = block - 1; last >= 0 && with_all == 0; last -= 32) {
    const Offset at = last - lane;
    unsigned long long state = at < 0 ? kOfAll : 0;
    while (state == 0) state = states[at];
    __syncwarp();
    with_all = __ballot_sync(kAllLanes, state >= kOfAll);
    // Up to the nearest block that has published the sum of all before it.
    unsigned long long sum = (with_all & ((1u << lane) - 1)) == 0 ? state & (kOfBlock - 1) : 0ull;
    for (int distance = 1; distance < 32; distance *= 2) {
      sum += __shfl_xor_sync(kAllLanes, sum, distance);
    }
    before += sum;
  }
  if (lane == 0 && block > 0) states[block] = kOfAll | (before + of_block);
  return before;
}

/// The bin of a row whose entries are counted; `count` becomes their number.
__device__ MakeBin choose_for_row(const DeviceCsrView<void>& a, const BinRules& rules,
                                  const RowProfile& profile, Index row, std::uint32_t& count) {
  const RowFacts facts = {profile.products[row], static_cast<std::uint32_t>(profile.words[row]),
                          a.row_end(row) - a.row_begin(row)};
  const auto counted = static_cast<CountBin>(profile.bin[row]);
  const bool is_twin = counted == CountBin::twin || counted == CountBin::sorted_twin;
  const Index counted_row = is_twin ? profile.counted[row] : row;
  count = profile.counts[counted_row];
  const std::uint32_t twins = is_twin ? 1 : rules.prefers_twins ? profile.twins[row] : 0;
  MakeBin bin = rules.make_bin(facts, count, counted, twins);
  const bool is_together = (twins > 0 && BinRules::sorts_twins(bin)) ||
                           (rules.makes_twins(facts, count, twins) &&
                            bin >= MakeBin::bit_range_3k && bin <= MakeBin::bit_range_wide);
  if (is_twin && is_together) bin = MakeBin::twin;
  const bool is_staged = profile.staged != nullptr && profile.staged[row] != RowProfile::kNotStaged;
  if (is_staged && bin != MakeBin::twin) bin = MakeBin::done;
  profile.bin[row] = static_cast<std::uint8_t>(bin);
  if (counted == CountBin::twin) {
    profile.first_bits[row] = profile.first_bits[counted_row];
  } else if (bin >= MakeBin::bit_range_3k && !is_bit_range(counted)) {
    profile.first_bits[row] = RowProfile::kNotKept;  // counting did not mark bits
  }
  if (twins > 0 && !is_together) profile.twins[row] = 0;
  return bin;
}

/// A block takes kRows times kThreads rows. Sum: the type of C's offsets. `offsets` may be null.
template <class Sum, int kRows>
__global__ void __launch_bounds__(kThreads)
    choose_make_bin(DeviceCsrView<void> a, BinRules rules, RowProfile profile, Sum* offsets,
                    unsigned long long* states, BinTotals* totals) {
  __shared__ BlockTotals block;
  __shared__ unsigned long long scratch[32], before_block;
  __shared__ std::uint32_t counts[kRows * kThreads];
  clear(block);
  __syncthreads();
  const Offset first_row = Offset{blockIdx.x} * (kRows * kThreads);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const Offset row = first_row + i * kThreads + threadIdx.x;
    const bool has_row = row < a.rows;
    MakeBin bin = MakeBin::done;
    std::uint32_t count = 0;
    if (has_row) bin = choose_for_row(a, rules, profile, static_cast<Index>(row), count);
    add_row(block, has_row, static_cast<int>(bin));
    counts[i * kThreads + threadIdx.x] = count;
  }
  __syncthreads();
  add_to_totals(block, totals);
  if (offsets == nullptr) return;
  // From here on a thread has kRows neighbouring rows.
  std::uint32_t of_rows[kRows];
  unsigned long long of_thread = 0, of_block = 0;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    of_rows[i] = counts[threadIdx.x * kRows + i];
    of_thread += of_rows[i];
  }
  const unsigned long long in_block =
      Group<kThreads>::exclusive_sum<unsigned long long>(of_thread, of_block, scratch);
  if (threadIdx.x < 32) {
    const unsigned long long before = sum_of_blocks_before(states, of_block);
    if (threadIdx.x == 0) before_block = before;
  }
  __syncthreads();
  unsigned long long offset = before_block + in_block;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const Offset row = first_row + threadIdx.x * kRows + i;
    if (row >= a.rows) return;
    offsets[row] = static_cast<Sum>(offset);
    offset += of_rows[i];
    if (row + 1 == a.rows) {
      offsets[row + 1] = static_cast<Sum>(offset);
      totals->nnz = offset;
    }
  }
}

}  // namespace

bool has_twins_side_by_side(const DeviceCsrView<void>& a, DeviceMemory& memory) {
  constexpr Index kMostSampled = 1024;
  const cudaStream_t stream = memory.stream();
  const int count = std::min(a.rows - 1, kMostSampled);
  const DeviceBuffer<std::uint32_t> alike(memory, 1, "a sample of rows");
  CHECK_CUDA(cudaMemsetAsync(alike.data(), 0, sizeof(std::uint32_t), stream));
  count_like_next<<<blocks_of(count, kThreads), kThreads, 0, stream>>>(a, count, alike.data());
  CHECK_LAUNCH("count_like_next", stream);
  std::uint32_t found = 0;
  CHECK_CUDA(cudaMemcpyAsync(&found, alike.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  return 4 * found >= static_cast<std::uint32_t>(count);
}

void profile_rows(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b, const BinRules& rules,
                  const RowProfile& profile, const LongRows& long_rows, BinTotals* totals,
                  cudaStream_t stream) {
  const int rounds =
      static_cast<int>(std::clamp<Offset>(a.rows / kRowsToFillADevice, 1, kMostRounds));
  const unsigned blocks = blocks_of(a.rows, kRowsPerBlock * rounds);
  if (rules.prefers_twins) {
    profile_row_groups<true>
        <<<blocks, kThreads, 0, stream>>>(a, b, rules, profile, long_rows, totals, rounds);
  } else {
    profile_row_groups<false>
        <<<blocks, kThreads, 0, stream>>>(a, b, rules, profile, long_rows, totals, rounds);
  }
  CHECK_LAUNCH("profile_row_groups", stream);
  constexpr Offset kMostBlocks = 512;
  const Offset chunks = LongRows::most_chunks(a.nnz, rules.fewest_spread);
  if (chunks == 0) return;
  profile_long_rows<<<static_cast<unsigned>(std::min(chunks, kMostBlocks)), kThreads, 0, stream>>>(
      a, b, rules, profile, long_rows, totals);
  CHECK_LAUNCH("profile_long_rows", stream);
}

void choose_make_bins(const DeviceCsrView<void>& a, const BinRules& rules,
                      const RowProfile& profile, const NewOffsets& offsets,
                      unsigned long long* states, BinTotals* totals, cudaStream_t stream) {
  const auto launch = [&](auto* to, auto rows_of_thread) {
    using Sum = std::remove_pointer_t<decltype(to)>;
    choose_make_bin<Sum, rows_of_thread>
        <<<blocks_of(a.rows, kThreads * rows_of_thread), kThreads, 0, stream>>>(a, rules, profile,
                                                                                to, states, totals);
  };
  const auto launch_by_size = [&](auto* to) {
    // Four rows a thread save atomics and waits for the blocks before, where blocks are enough.
    if (a.rows >= kManyRows) return launch(to, std::integral_constant<int, 4>{});
    launch(to, std::integral_constant<int, 1>{});
  };
  if (offsets.wide != nullptr) {
    launch_by_size(offsets.wide);
  } else {
    launch_by_size(offsets.narrow);
  }
  CHECK_LAUNCH("choose_make_bin", stream);
}

}  // namespace csrkit::gpu

// What the profile finds of a row of C before it is counted, and the bin that it decides on.
#pragma once

#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"
#include "gpu/spgemm/adaptive_rows/profile/profile.h"

namespace csrkit::gpu {

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

/// The value of first_bits for words that begin at `first`: kNotKept beyond 31 bits.
inline __device__ std::uint32_t first_bits_at(const BinRules& rules, const RowFacts& row,
                                              std::uint32_t words, unsigned long long first) {
  if (words == 0 || first + words >= RowProfile::kInPairs) return RowProfile::kNotKept;
  return static_cast<std::uint32_t>(first) | (rules.keeps_bits(row) ? 0 : RowProfile::kInPairs);
}

/// Reserves room for the words of each lane's row, and returns where they begin.
inline __device__ std::uint32_t find_first_bits(const BinRules& rules, const RowFacts& row,
                                                std::uint32_t words, BinTotals* totals) {
  unsigned long long of_warp = 0, first = 0;
  const auto before = Group<32>::exclusive_sum<unsigned long long>(words, of_warp, nullptr);
  if (of_warp == 0) return RowProfile::kNotKept;
  if ((threadIdx.x & 31) == 0) first = atomicAdd(&totals->kept_words, of_warp);
  first = __shfl_sync(kAllLanes, first, 0) + before;
  return first_bits_at(rules, row, words, first);
}

/// Needs few atomics, as most rows are shorter than the longest so far.
inline __device__ void keep_longest(unsigned long long& longest, unsigned long long nanoseconds) {
  if (nanoseconds > *static_cast<volatile unsigned long long*>(&longest)) {
    atomicMax(&longest, nanoseconds);
  }
}

/// A row of more than kHubSources.
inline __device__ void add_long_row(BinRules rules, const RowFacts& row,
                                    unsigned long long products, BinTotals* totals) {
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
inline __device__ CountBin decide(const DeviceCsrView<void>& a, const BinRules& rules,
                                  const RowProfile& profile, BinTotals* totals, Index row,
                                  const Span& span, bool is_like_neighbour, bool is_twin,
                                  RowFacts& facts, unsigned long long& parts) {
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
  if (rules.is_tiny(facts)) return bin;
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

}  // namespace csrkit::gpu

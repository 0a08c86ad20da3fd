// Sums of a row of C, or of a part of it, by a block: in any order, in shares of its columns, or in
// turns. block_sums says which; in each way an entry's sum is the same in every run.
#pragma once

#include "gpu/spgemm/adaptive_rows/numeric/bit_range/bit_words.cuh"
#include "gpu/spgemm/adaptive_rows/numeric/bit_range/claimed_sums.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"

namespace csrkit::gpu::bit_ranges {

/// The places of columns among a row's sums. is_direct: every column of the range has one.
struct PlacesInRange {
  const Word* words;
  Index first_word;
  bool is_direct;

  __device__ std::uint32_t of(Index col) const {
    return is_direct ? static_cast<std::uint32_t>(col - (Offset{first_word} << kWordLog2))
                     : place_of(words, first_word, col);
  }
  template <class Entry>
  __device__ std::uint32_t of_product(const Entry& entry) const {
    return entry.col < 0 ? 0 : of(entry.col);
  }
};

/// Fills `sums`, with the memory of claims behind them. `found`: a number in shared memory.
template <int kThreads, class Value>
__device__ void add_by_claims(const MakeRows<Value>& op, const BitRange& range,
                              const PlacesInRange& places, Value* sums,
                              Sources<kThreads, Value>& list, int* found) {
  const Value nothing = empty_sum<Value>(op.semiring);
  ClaimedSums<kThreads, Value> claims(
      sums, found, range.count, static_cast<int>(op.profile.products[range.row]) - range.count);
  __syncthreads();
  walk_packed<kThreads, SourcedProduct<Value>>(
      op.a, op.b, entries_of_row(op.a, range.row), AllColumns{}, list,
      [&](const SourcedProduct<Value>(&entries)[kSegments], Packed) {
#pragma unroll
        for (int u = 0; u < kSegments; ++u) {
          if (entries[u].col < 0) continue;
          claims.take(places.of(entries[u].col), entries[u].source,
                      add_product(op.semiring, nothing, entries[u].x, entries[u].y));
        }
      });
  __syncthreads();
  claims.add_repeats(op.semiring);
}

/// The columns of which a warp of a block of kWarps makes the entries: about equally many each.
/// They begin with a word. If pairs are kept, only their words are filled; shares are the same
/// without, but for words that have no bit.
template <int kWarps>
__device__ ColumnRange share_of_warp(const BitRange& range, const Word* words,
                                     const KeptPairs& pairs) {
  const bool has_pairs = pairs.pairs != nullptr;
  const int size = has_pairs ? pairs.count : range.words;
  const auto number = [&](int at) { return has_pairs ? pairs.number(at) : at; };
  const auto begin_of = [&](int share) {
    if (share == 0) return 0;
    const auto before = static_cast<std::uint32_t>(Offset{range.count} * share / kWarps);
    int low = 0, high = size;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (words[number(middle)].before < before) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return share < kWarps && low < size ? number(low) : range.words;
  };
  const int warp = static_cast<int>(threadIdx.x / 32);
  return {(Offset{range.first_word} + begin_of(warp)) << kWordLog2,
          (Offset{range.first_word} + begin_of(warp + 1)) << kWordLog2};
}

/// Fills `sums`. Each warp has a share of the columns, and a list.
template <int kThreads, class Value>
__device__ void add_in_shares(const MakeRows<Value>& op, const BitRange& range,
                              const ColumnRange& share, const PlacesInRange& places_in_range,
                              Value* sums, Sources<32, Value>* lists) {
  const auto rank = static_cast<int>(threadIdx.x);
  const EntriesOfA of_row = entries_of_row(op.a, range.row);
  const Value nothing = empty_sum<Value>(op.semiring);
  for (int i = rank; i < range.count; i += kThreads) sums[i] = nothing;
  __syncthreads();
  WarpTurns none;
  walk_products<32, Product<Value>>(
      op.a, op.b, of_row, share,
      suits_packing<32>(op.profile.products[range.row] / (kThreads / 32), of_row.count),
      lists + rank / 32, [&](const Product<Value>(&entries)[kSegments], auto way) {
        std::uint32_t places[kSegments];
#pragma unroll
        for (int u = 0; u < kSegments; ++u) places[u] = places_in_range.of_product(entries[u]);
        add_products<32>(entries, places, sums, op.semiring, way, none);
      });
  __syncthreads();
}

/// Fills `sums`. `bids` are needed if the walk is packed.
template <int kThreads, class Columns, class Value>
__device__ void add_in_turns(const MakeRows<Value>& op, const BitRange& range,
                             const Columns& columns, bool is_packed,
                             const PlacesInRange& places_in_range, Value* sums,
                             Sources<kThreads, Value>& list, std::uint32_t* bids) {
  const Value nothing = empty_sum<Value>(op.semiring);
  for (int i = static_cast<int>(threadIdx.x); i < range.count; i += kThreads) sums[i] = nothing;
  auto turns = Turns<kThreads>::make(bids);
  __syncthreads();
  walk_products<kThreads, Product<Value>>(
      op.a, op.b, entries_of_row(op.a, range.row), columns, is_packed, &list,
      [&](const Product<Value>(&entries)[kSegments], auto way) {
        std::uint32_t places[kSegments];
#pragma unroll
        for (int u = 0; u < kSegments; ++u) places[u] = places_in_range.of_product(entries[u]);
        add_products<kThreads>(entries, places, sums, op.semiring, way, turns);
      });
  __syncthreads();
}

/// How a block makes a whole row.
template <int kThreads, class Value>
__device__ BlockSums block_sums_of(const MakeRows<Value>& op, const BitRange& range,
                                   Offset sources) {
  const RowFacts facts = {op.profile.products[range.row], static_cast<std::uint32_t>(range.words),
                          sources};
  return block_sums(facts, static_cast<std::uint32_t>(range.count), kThreads, sizeof(Value),
                    static_cast<unsigned>(op.most_block_bytes));
}

/// Fills `sums` in that way. `pairs`: as share_of_warp has them; `scratch`: a number in shared
/// memory.
template <int kThreads, class Columns, class Value>
__device__ void add_up_in_block(const MakeRows<Value>& op, const BitRange& range,
                                const Columns& columns, BlockSums way, bool is_packed,
                                const KeptPairs& pairs, const PlacesInRange& places, Value* sums,
                                Sources<kThreads, Value>& list, std::uint32_t* bids, int* scratch) {
  constexpr int kWarps = kThreads / 32;
  if (way == BlockSums::claims) {
    add_by_claims(op, range, places, sums, list, scratch);
  } else if (way == BlockSums::shares) {
    static_assert(sizeof(Sources<32, Value>) * kWarps <= sizeof list);
    add_in_shares<kThreads>(op, range, share_of_warp<kWarps>(range, places.words, pairs), places,
                            sums, reinterpret_cast<Sources<32, Value>*>(&list));
  } else {
    add_in_turns(op, range, columns, is_packed, places, sums, list, bids);
  }
}

}  // namespace csrkit::gpu::bit_ranges

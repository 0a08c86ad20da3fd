// Rows of C by ranges of bits, in adaptive_rows.
// Owns     a warp, a team of four warps or a block: one row, or a part of its columns. Each warp of
//          a team takes every fourth of A's entries and has its own sums, which are added up at the
//          end; where rows of B are long, all four share every row of B. A block adds up in one of
//          three ways (block_sums.cuh)
// Reads    A's row; B's columns and values in order; before that B's columns alone, unless counting
//          has kept the bits. Shared memory holds, for every 32 columns between the row's first and
//          last, a word with a bit for each column that C has, and the number of entries before it;
//          then one sum per entry or, where C has half of the columns, per column, which saves the
//          lookup. Bits are set by atomics; sums need none (row_walks.cuh), but for claims
// Launch   blocks of 4 warps, a row each; teams of 4 warps for long rows whose sums fit; blocks of
//          256 or 512 threads for wider or longer rows
// Needs    nothing more: words ascend, so columns come out sorted. Sums that do not fit are added
//          up in C
// Against  hashing: no probes and no sort, and a column costs a bit where a table costs a slot. But
//          all words of the range are cleared and scanned, so this pays only for rows with about as
//          many products as words, or more

#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/block_sums.cuh"
#include "gpu/spgemm/adaptive_rows/launch.cuh"
#include "gpu/spgemm/adaptive_rows/make.h"
#include "gpu/spgemm/adaptive_rows/row_columns.cuh"
#include "gpu/spgemm/adaptive_rows/row_sums.cuh"
#include "gpu/spgemm/adaptive_rows/twin_rows.cuh"
#include "gpu/spgemm/adaptive_rows/wide_rows.cuh"

namespace csrkit::gpu {

namespace bit_ranges {

/// kWalkers groups of kLanes / kWalkers lanes take turns at A's entries; `sources` has a list for
/// each. kSharesSums: all lanes of a team share one source at a time, so neither lists nor bids are
/// needed.
template <int kLanes, int kWalkers, Structure kStructure, bool kSharesSums, class Columns,
          class Value>
__device__ void make_bit_range(const MakeRows<Value>& op, const BitRange<Value>& range,
                               const Columns& columns, int count, std::byte* bytes,
                               [[maybe_unused]] Sources<kLanes / kWalkers, Value>* sources,
                               [[maybe_unused]] std::uint32_t* bids, int* scratch) {
  static_assert(!kSharesSums || kWalkers == 1);
  using G = Group<kLanes>;
  constexpr int kWalkLanes = kLanes / kWalkers;
  using Walk = Group<kWalkLanes>;
  const EntriesOfA of_row = entries_of_row(op.a, range.row);
  const bool is_packed =
      !kSharesSums && suits_packing<kWalkLanes>(op.profile.products[range.row], of_row.count);
  const int walker = kWalkers == 1 ? 0 : G::rank() / kWalkLanes;
  // Columns of A are often in the order of the lengths of B's rows. So walkers take turns.
  const EntriesOfA of_walker = {
      of_row.begin + walker,
      (of_row.count + static_cast<unsigned>(kWalkers - 1 - walker)) / kWalkers, kWalkers};
  constexpr bool kAddsByBlock = G::kIsBlock && kWalkers == 1 && !kSharesSums;
  int room = range.room;
  [[maybe_unused]] BlockSums way = BlockSums::turns;
  if constexpr (kAddsByBlock && !Columns::kIsPart) {
    const RowFacts facts = {op.profile.products[range.row], static_cast<std::uint32_t>(range.words),
                            of_row.count};
    way = BinRules::block_sums(facts, static_cast<std::uint32_t>(count), kLanes, sizeof(Value),
                               static_cast<unsigned>(op.most_block_bytes));
    if (way == BlockSums::turns && is_packed) {  // the bids lie behind the sums
      room -= kBidBytes;
      bids = reinterpret_cast<std::uint32_t*>(bytes + room);
    }
  }
  Word* words = reinterpret_cast<Word*>(bytes);
  const Offset first_col = Offset{range.first_word} << kWordLog2;
  const bool is_full =
      count == min(Offset{op.b.cols} - first_col, Offset{range.words} << kWordLog2);
  const std::uint32_t* const kept_bits = kept_bits_of<kStructure>(op, range);
  const KeptPairs pairs = is_full ? KeptPairs{} : kept_pairs_of<kStructure>(op, range);
  // Whether every column of the range has its own sum.
  const bool is_direct = kSharesSums && !is_full &&
                         BinRules::sums_every_column(static_cast<std::uint32_t>(range.words),
                                                     static_cast<std::uint32_t>(count));
  const int sums_count = is_direct ? range.words << kWordLog2 : count;
  const bool has_pairs = pairs.pairs != nullptr && !is_direct;
  for (int i = has_pairs ? range.words : G::rank(); i < range.words; i += kLanes) {
    words[i].bits = is_full                ? possible_bits(range.first_word + i, op.b.cols)
                    : kept_bits != nullptr ? kept_bits[i]
                                           : 0;
  }
  G::sync();
  const auto mark = [&](Index word, std::uint32_t bits) {
    set_bits(&words[word - range.first_word].bits, bits);
  };
  if (is_full || kept_bits != nullptr || has_pairs) {
    // Nothing to find out.
  } else if constexpr (kStructure == Structure::known) {
    for (int i = G::rank(); i < count; i += kLanes) {
      const Index col = op.c.col_indices[range.to + i];
      mark(col >> kWordLog2, 1u << (col & 31));
    }
  } else if constexpr (kSharesSums) {
    walk_by_source<kLanes, ProductColumn>(op.a, op.b, of_row, columns,
                                          [&](const ProductColumn(&entries)[kSegments], BySource) {
#pragma unroll
                                            for (int u = 0; u < kSegments; ++u) {
                                              const Index col = entries[u].col;
                                              if (col >= 0)
                                                mark(col >> kWordLog2, 1u << (col & 31));
                                            }
                                          });
  } else if constexpr (kWalkLanes == 32) {
    // One warp is faster column by column: it has no contention that by_words would reduce.
    walk_products<kWalkLanes, ProductColumn>(op.a, op.b, of_walker, columns, is_packed,
                                             sources + walker,
                                             [&](const ProductColumn(&entries)[kSegments], auto) {
#pragma unroll
                                               for (int u = 0; u < kSegments; ++u) {
                                                 const Index col = entries[u].col;
                                                 if (col >= 0)
                                                   mark(col >> kWordLog2, 1u << (col & 31));
                                               }
                                             });
  } else {
    walk_columns<kLanes>(
        op.a, op.b, range.row, columns, *sources,
        [&](const Index(&cols)[kChunk]) { by_words(cols, mark); }, [] { return false; });
  }
  G::sync();

  Value* const values = op.c.values + range.to;
  Value* const shared_sums = reinterpret_cast<Value*>(words + range.words);
  const bool fits =
      Offset{range.words} * kTableEntryBytes + Offset{count} * static_cast<int>(sizeof(Value)) <=
      room;
  // Staged in the memory of the sums, so that writes to C are coalesced.
  Index* const columns_out =
      fits ? reinterpret_cast<Index*>(shared_sums) : op.c.col_indices + range.to;
  if (has_pairs) {
    number_words<kLanes, kStructure>(words, pairs, range.first_word, columns_out, scratch);
  } else {
    number_words<kLanes, kStructure>(words, AllWords{range.words, words}, range.first_word,
                                     columns_out, scratch);
  }

  if (kStructure == Structure::wanted && fits) {
    G::sync();
    for (int i = G::rank(); i < count; i += kLanes) {
      op.c.col_indices[range.to + i] = columns_out[i];
    }
  }
  G::sync();
  const PlacesInRange places_in_range = {words, range.first_word, is_full || is_direct};
  if constexpr (kAddsByBlock) {
    Value* const sums = fits ? shared_sums : values;
    if (way == BlockSums::claims) {
      add_by_claims(op, range.row, places_in_range, sums, count, *sources, scratch);
    } else if (way == BlockSums::shares) {
      static_assert(sizeof(Sources<32, Value>) * (kLanes / 32) <= sizeof *sources);
      add_in_shares<kLanes>(op, range.row, share_of_warp<kLanes / 32>(range, words, pairs, count),
                            places_in_range, sums, count,
                            reinterpret_cast<Sources<32, Value>*>(sources));
    } else {
      add_in_turns(op, range.row, columns, is_packed, places_in_range, sums, count, *sources, bids);
    }
    if (fits || op.alpha != Value{1}) {
      for (int i = G::rank(); i < count; i += kLanes) values[i] = op.alpha * sums[i];
    }
  } else {
    const Value nothing = empty_sum<Value>(op.semiring);
    WarpTurns none;
    const auto add_up = [&](Value* sums) {  // a walker's
      for (int i = Walk::rank() % kWalkLanes; i < sums_count; i += kWalkLanes) sums[i] = nothing;
      Walk::sync();
      const auto add = [&](const Product<Value>(&entries)[kSegments], auto way) {
        std::uint32_t places[kSegments];
#pragma unroll
        for (int u = 0; u < kSegments; ++u) places[u] = places_in_range.of_product(entries[u]);
        add_products<kWalkLanes>(entries, places, sums, op.semiring, way, none);
      };
      if constexpr (kSharesSums) {
        walk_by_source<kWalkLanes, Product<Value>>(op.a, op.b, of_walker, columns, add);
      } else {
        walk_products<kWalkLanes, Product<Value>>(op.a, op.b, of_walker, columns, is_packed,
                                                  sources + walker, add);
      }
    };
    if constexpr (kWalkers > 1) {  // the rules of the bins guarantee that the sums fit
      add_up(shared_sums + walker * count);
      __syncthreads();
      for (int i = G::rank(); i < count; i += kLanes) {
        Value sum = shared_sums[i];
#pragma unroll
        for (int other = 1; other < kWalkers; ++other) {
          sum = add_sums(op.semiring, sum, shared_sums[other * count + i]);
        }
        values[i] = op.alpha * sum;
      }
    } else if (is_direct) {
      add_up(shared_sums);
      for (int i = G::rank(); i < sums_count; i += kLanes) {
        const Word word = words[i >> kWordLog2];
        const unsigned bit = 1u << (i & 31);
        if ((word.bits & bit) != 0) {
          values[word.before + __popc(word.bits & (bit - 1))] = op.alpha * shared_sums[i];
        }
      }
    } else if (fits) {
      add_up(shared_sums);
      for (int i = G::rank(); i < count; i += kLanes) values[i] = op.alpha * shared_sums[i];
    } else {
      add_up(values);
      if (op.alpha != Value{1}) {
        for (int i = G::rank(); i < count; i += kLanes) values[i] = op.alpha * values[i];
      }
    }
  }
}

/// Teams may have 64 registers: with fewer, which the compiler chooses, some are kept in memory.
template <class Value, int kLanes, int kWalkers, int kThreads, Structure kStructure>
__global__ void __launch_bounds__(kThreads, kWalkers > 1 ? 8 : 0)
    make_by_bit_range(MakeRows<Value> op, RowList list, int room) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ int scratch[32];
  __shared__ Sources<kLanes / kWalkers, Value> sources[kThreads / kLanes * kWalkers];
  const Offset item = Offset{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  if (item >= list.count) return;  // a whole group
  const Index row = list.rows[item];
  const Offset to = op.c.row_offsets[row];
  const int count = static_cast<int>(op.c.row_offsets[Offset{row} + 1] - to);
  const BitRange<Value> range = {row, op.profile.first_word[row], op.profile.words[row], to, room};
  std::byte* const bytes = shared_bytes + threadIdx.x / kLanes * room;
  if constexpr (kWalkers > 1) {
    const Offset of_row = op.a.row_end(row) - op.a.row_begin(row);
    if (op.shared_sums.suit(op.profile.products[row], of_row)) {
      make_bit_range<kLanes, 1, kStructure, true>(op, range, AllColumns{}, count, bytes,
                                                  static_cast<Sources<kLanes, Value>*>(nullptr),
                                                  nullptr, scratch);
      return;
    }
  }
  make_bit_range<kLanes, kWalkers, kStructure, false>(op, range, AllColumns{}, count, bytes,
                                                      sources + threadIdx.x / kLanes * kWalkers,
                                                      nullptr, scratch);
}

template <class Value, int kThreads, Structure kStructure>
__global__ void __launch_bounds__(kThreads)
    make_part_by_bit_range(MakeRows<Value> op, BinRules rules, RowParts parts, int room) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ int scratch[32];
  __shared__ Sources<kThreads, Value> sources;
  __shared__ std::uint32_t bids[Turns<kThreads>::kBids];
  const Offset item = blockIdx.x;
  if (rules.most_sorted_to_make > 0 && parts.products[item] <= kMostSorted) return;  // sorted
  const PartOfRow part = part_of_row(op.profile, rules, parts, item);
  BitRange<Value> range = {};
  range.row = part.row;
  range.first_word = part.first_word;
  range.words = part.words;
  range.to = op.c.row_offsets[part.row] + parts.starts[item];
  range.room = room;
  range.is_part = true;
  const ColumnRange columns = {Offset{range.first_word} << kWordLog2,
                               (Offset{range.first_word} + range.words) << kWordLog2};
  make_bit_range<kThreads, 1, kStructure, false>(op, range, columns,
                                                 static_cast<int>(parts.counts[item]), shared_bytes,
                                                 &sources, bids, scratch);
}

template <class F>
void with_structure(Structure structure, const F& launch) {
  if (structure == Structure::known) {
    launch(std::integral_constant<Structure, Structure::known>{});
  } else {
    launch(std::integral_constant<Structure, Structure::wanted>{});
  }
}

template <int kLanes, int kThreads, int kWalkers = 1, class Value>
void launch(Structure structure, const MakeRows<Value>& op, const RowList& list, int room,
            cudaStream_t stream) {
  with_structure(structure, [&](auto known) {
    launch_rows<kThreads, kLanes>(
        make_by_bit_range<Value, kLanes, kWalkers, kThreads, decltype(known)::value>,
        "make_by_bit_range", list.count, room, stream, op, list, room);
  });
}

template <class Value>
void launch_twins(Structure structure, const MakeRows<Value>& op, const RowList& list, int room,
                  cudaStream_t stream) {
  constexpr int kThreads = 128;
  with_structure(structure, [&](auto known) {
    launch_rows<kThreads, 32>(make_twin_rows<Value, kThreads, decltype(known)::value>,
                              "make_twin_rows", list.count, room, stream, op, list, room);
  });
}

template <class Value>
void launch_wide(Structure structure, const MakeRows<Value>& op, const RowList& list, int room,
                 cudaStream_t stream) {
  constexpr int kThreads = 128;
  with_structure(structure, [&](auto known) {
    launch_rows<kThreads, 32>(make_wide_rows<Value, kThreads, decltype(known)::value>,
                              "make_wide_rows", list.count, room, stream, op, list, room);
  });
}

}  // namespace bit_ranges

template <class Value>
void make_rows_by_bit_range(MakeBin bin, Structure structure, const MakeRows<Value>& op,
                            const RowList& list, int room, cudaStream_t stream) {
  if (bin <= MakeBin::bit_range_13k) {
    bit_ranges::launch<32, 128>(structure, op, list, room, stream);
  } else if (bin <= MakeBin::bit_range_twins_14k) {
    bit_ranges::launch_twins(structure, op, list, room, stream);
  } else if (bin == MakeBin::bit_range_wide) {
    bit_ranges::launch_wide(structure, op, list, room, stream);
  } else if (bin <= MakeBin::bit_range_team_192k) {
    constexpr int kTeam = 32 * kWarpsOfATeam;
    bit_ranges::launch<kTeam, kTeam, kWarpsOfATeam>(structure, op, list, room, stream);
  } else if (bin == MakeBin::bit_range_block) {
    bit_ranges::launch<kThreadsOfBlock, kThreadsOfBlock>(structure, op, list, room, stream);
  } else if (bin == MakeBin::bit_range_whole) {
    bit_ranges::launch<kThreadsOfWhole, kThreadsOfWhole>(structure, op, list, room, stream);
  } else {
    throw std::logic_error("adaptive_rows: a bin without bit ranges");
  }
}

template <class Value>
void make_rows_in_parts(Structure structure, const MakeRows<Value>& op, const BinRules& rules,
                        const RowParts& parts, cudaStream_t stream) {
  constexpr int kThreads = 512;
  bit_ranges::with_structure(structure, [&](auto known) {
    launch_rows<kThreads, kThreads>(
        bit_ranges::make_part_by_bit_range<Value, kThreads, decltype(known)::value>,
        "make_part_by_bit_range", parts.count, rules.most_part_bytes, stream, op, rules, parts,
        rules.most_part_bytes);
  });
}

}  // namespace csrkit::gpu

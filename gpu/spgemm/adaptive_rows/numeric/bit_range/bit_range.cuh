// Rows of C by ranges of bits, in adaptive_rows.
// Owns     a warp, a team of four to sixteen warps or a block: one row, or a part of its columns.
//          The warps of a team take turns at A's entries, and each has its own sums, which are
//          added up at the end; where rows of B are long, four warps share every row of B. A block
//          adds up in one of three ways (block_sums.cuh)
// Reads    A's row; B's columns and values in order; before that B's columns alone, unless counting
//          has kept the bits. Shared memory holds, for every 32 columns between the row's first and
//          last, a word with a bit for each column that C has, and the number of entries before it;
//          then one sum per entry. A team that shares its sums has one per column where C has half
//          of them, which saves the lookup. Bits are set by atomics; sums need none
//          (row_walks.cuh), but for claims
// Launch   blocks of 4 warps, a row each; teams of 4 warps for long rows whose sums fit, of up to
//          16 for those that the product would wait for; blocks of 256 or 512 threads for wider or
//          longer rows
// Needs    nothing more: words ascend, so columns come out sorted. Sums that do not fit are added
//          up in C
// Against  hashing: no probes and no sort, and a column costs a bit where a table costs a slot. But
//          all words of the range are cleared and scanned, so this pays only for rows with about as
//          many products as words, or more

#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/numeric/bit_range/bit_words.cuh"
#include "gpu/spgemm/adaptive_rows/numeric/bit_range/block_sums.cuh"
#include "gpu/spgemm/adaptive_rows/numeric/bit_range/twin_rows.cuh"
#include "gpu/spgemm/adaptive_rows/numeric/bit_range/wide_rows.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/launch.cuh"

namespace csrkit::gpu {

namespace bit_ranges {

/// How a group walks over its row's products: kWalkers parts of it take turns at A's entries, as
/// columns of A are often in the order of the lengths of B's rows. Each has a list of sources.
/// kSharesSums: all lanes of a team share one source at a time, so lists are not needed.
template <int kLanes, int kWalkers, bool kSharesSums, class Columns, class Value>
struct RowWalk {
  static_assert(!kSharesSums || kWalkers == 1);
  static constexpr int kWalkLanes = kLanes / kWalkers;
  /// How bits are set. One warp is faster column by column: it has no contention that by_words
  /// would reduce.
  static constexpr bool kIsByColumns = kSharesSums || kWalkLanes == 32;

  const MakeRows<Value>& op;
  Columns columns;
  EntriesOfA entries;  // of the walker
  bool is_packed;
  Sources<kWalkLanes, Value>* list;  // the walker's

  __device__ RowWalk(const MakeRows<Value>& make, Index row, const Columns& limits,
                     Sources<kWalkLanes, Value>* lists)
      : op(make), columns(limits) {
    const EntriesOfA of_row = entries_of_row(op.a, row);
    const int walker = kWalkers == 1 ? 0 : Group<kLanes>::rank() / kWalkLanes;
    entries = {of_row.begin + walker,
               (of_row.count + static_cast<unsigned>(kWalkers - 1 - walker)) / kWalkers, kWalkers};
    is_packed = !kSharesSums && suits_packing<kWalkLanes>(op.profile.products[row], of_row.count);
    list = lists + walker;
  }

  template <class Entry, class Body>
  __device__ void run(const Body& body) const {
    if constexpr (kSharesSums) {
      walk_by_source<kWalkLanes, Entry>(op.a, op.b, entries, columns, body);
    } else {
      walk_products<kWalkLanes, Entry>(op.a, op.b, entries, columns, is_packed, list, body);
    }
  }
};

/// What is known of a row's columns before its products are met.
struct KnownColumns {
  bool is_full;               // C has all columns of the range
  const std::uint32_t* bits;  // of all words, as counting kept them; null: not kept
  KeptPairs pairs;

  __device__ bool has_pairs() const { return pairs.pairs != nullptr; }
};

template <Structure kStructure, class Value>
__device__ KnownColumns known_columns_of(const MakeRows<Value>& op, const BitRange& range) {
  const Offset first_col = Offset{range.first_word} << kWordLog2;
  const bool is_full =
      range.count == min(Offset{op.b.cols} - first_col, Offset{range.words} << kWordLog2);
  return {is_full, kept_bits_of<kStructure>(op, range),
          is_full ? KeptPairs{} : kept_pairs_of<kStructure>(op, range)};
}

/// Sets the bits of all words of the range, unless pairs are known, which say them.
template <int kLanes, Structure kStructure, class Walk, class Value>
__device__ void set_words(const MakeRows<Value>& op, const BitRange& range,
                          const KnownColumns& known, const Walk& walk, Word* words) {
  using G = Group<kLanes>;
  for (int i = known.has_pairs() ? range.words : G::rank(); i < range.words; i += kLanes) {
    words[i].bits = known.is_full           ? possible_bits(range.first_word + i, op.b.cols)
                    : known.bits != nullptr ? known.bits[i]
                                            : 0;
  }
  G::sync();
  const auto mark = [&](Index word, std::uint32_t bits) {
    set_bits(&words[word - range.first_word].bits, bits);
  };
  if (known.is_full || known.bits != nullptr || known.has_pairs()) {
    // Nothing to find out.
  } else if constexpr (kStructure == Structure::known) {
    for (int i = G::rank(); i < range.count; i += kLanes) {
      const Index col = op.c.col_indices[range.to + i];
      mark(col >> kWordLog2, 1u << (col & 31));
    }
  } else if constexpr (Walk::kIsByColumns) {
    walk.template run<ProductColumn>(
        [&](const ProductColumn(&entries)[kSegments], auto) { by_columns(entries, mark); });
  } else {
    walk_columns<kLanes>(
        op.a, op.b, range.row, walk.columns, *walk.list,
        [&](const Index(&cols)[kChunk]) { by_words(cols, mark); }, [] { return false; });
  }
  G::sync();
}

/// Numbers the words, and writes C's columns if they are wanted: through `staged` if that is not
/// null, so that writes to C are coalesced.
template <int kLanes, Structure kStructure, class Value>
__device__ void number_row(const MakeRows<Value>& op, const BitRange& range, const KeptPairs& pairs,
                           Word* words, Index* staged, int* scratch) {
  using G = Group<kLanes>;
  Index* const in_c = op.c.col_indices + range.to;
  Index* const columns_out = staged != nullptr ? staged : in_c;
  if (pairs.pairs != nullptr) {
    number_words<kLanes, kStructure>(words, pairs, range.first_word, columns_out, scratch);
  } else {
    number_words<kLanes, kStructure>(words, AllWords{range.words, words}, range.first_word,
                                     columns_out, scratch);
  }
  if (kStructure == Structure::wanted && staged != nullptr) {
    G::sync();
    for (int i = G::rank(); i < range.count; i += kLanes) in_c[i] = staged[i];
  }
  G::sync();
}

/// Fills `sums`, so many, with those of a walker's products.
template <class Walk, class Value>
__device__ void add_up(const Walk& walk, const PlacesInRange& places_in_range, Value* sums,
                       int count) {
  using G = Group<Walk::kWalkLanes>;
  const Value nothing = empty_sum<Value>(walk.op.semiring);
  for (int i = G::rank(); i < count; i += Walk::kWalkLanes) sums[i] = nothing;
  G::sync();
  WarpTurns none;
  walk.template run<Product<Value>>([&](const Product<Value>(&entries)[kSegments], auto way) {
    std::uint32_t places[kSegments];
#pragma unroll
    for (int u = 0; u < kSegments; ++u) places[u] = places_in_range.of_product(entries[u]);
    add_products<Walk::kWalkLanes>(entries, places, sums, walk.op.semiring, way, none);
  });
}

/// Writes a row's values, of which each of a team's warps has added up a part.
template <int kLanes, class Value>
__device__ void write_sums_of_warps(const MakeRows<Value>& op, const BitRange& range,
                                    const Value* sums) {
  for (int i = Group<kLanes>::rank(); i < range.count; i += kLanes) {
    Value sum = sums[i];
#pragma unroll
    for (int other = 1; other < kLanes / 32; ++other) {
      sum = add_sums(op.semiring, sum, sums[other * range.count + i]);
    }
    op.c.values[range.to + i] = op.alpha * sum;
  }
}

/// Writes a row's values from `sums` of all columns of its range.
template <int kLanes, class Value>
__device__ void write_sums_of_columns(const MakeRows<Value>& op, const BitRange& range,
                                      const Word* words, const Value* sums) {
  for (int i = Group<kLanes>::rank(); i < range.words << kWordLog2; i += kLanes) {
    const Word word = words[i >> kWordLog2];
    const unsigned bit = 1u << (i & 31);
    if ((word.bits & bit) != 0) {
      op.c.values[range.to + word.before + __popc(word.bits & (bit - 1))] = op.alpha * sums[i];
    }
  }
}

/// Writes a row's values from `sums`, which may be in C.
template <int kLanes, class Value>
__device__ void write_sums(const MakeRows<Value>& op, const BitRange& range, const Value* sums) {
  for (int i = Group<kLanes>::rank(); i < range.count; i += kLanes) {
    op.c.values[range.to + i] = op.alpha * sums[i];
  }
}

/// Makes a row or part: its words, then its columns, then its values. `lists`: of sources, one for
/// each walker. kSharesSums: all lanes of a team add up in one set of sums.
template <int kLanes, int kWalkers, Structure kStructure, bool kSharesSums, class Columns,
          class Value>
__device__ void make_bit_range(const MakeRows<Value>& op, const BitRange& range,
                               const Columns& columns, std::byte* bytes,
                               Sources<kLanes / kWalkers, Value>* lists,
                               [[maybe_unused]] std::uint32_t* bids, int* scratch) {
  using Walk = RowWalk<kLanes, kWalkers, kSharesSums, Columns, Value>;
  const Walk walk(op, range.row, columns, lists);
  constexpr bool kAddsByBlock = kLanes > 32 && kWalkers == 1 && !kSharesSums;
  int room = range.room;
  [[maybe_unused]] BlockSums way = BlockSums::turns;
  if constexpr (kAddsByBlock && !Columns::kIsPart) {
    way = block_sums_of<kLanes>(op, range, walk.entries.count);
    if (way == BlockSums::turns && walk.is_packed) {  // the bids lie behind the sums
      room -= kBidBytes;
      bids = reinterpret_cast<std::uint32_t*>(bytes + room);
    }
  }
  Word* const words = reinterpret_cast<Word*>(bytes);
  Value* const shared_sums = reinterpret_cast<Value*>(words + range.words);
  const bool fits = Offset{range.words} * kTableEntryBytes +
                        Offset{range.count} * static_cast<int>(sizeof(Value)) <=
                    room;
  KnownColumns known = known_columns_of<kStructure>(op, range);
  // Whether every column of the range has its own sum.
  const bool is_direct = kSharesSums && !known.is_full &&
                         BinRules::sums_every_column(static_cast<std::uint32_t>(range.words),
                                                     static_cast<std::uint32_t>(range.count));
  if (is_direct) known.pairs = {};  // all words are needed, also those without a bit
  set_words<kLanes, kStructure>(op, range, known, walk, words);
  number_row<kLanes, kStructure>(op, range, known.pairs, words,
                                 fits ? reinterpret_cast<Index*>(shared_sums) : nullptr, scratch);

  const PlacesInRange places = {words, range.first_word, known.is_full || is_direct};
  Value* const values = op.c.values + range.to;
  if constexpr (kAddsByBlock) {
    Value* const sums = fits ? shared_sums : values;
    add_up_in_block(op, range, columns, way, walk.is_packed, known.pairs, places, sums, *lists,
                    bids, scratch);
    if (fits || op.alpha != Value{1}) write_sums<kLanes>(op, range, sums);
  } else if constexpr (kWalkers > 1) {  // the rules of the bins guarantee that the sums fit
    add_up(walk, places, shared_sums + Group<kLanes>::rank() / 32 * range.count, range.count);
    __syncthreads();
    write_sums_of_warps<kLanes>(op, range, shared_sums);
  } else if (is_direct) {
    add_up(walk, places, shared_sums, range.words << kWordLog2);
    write_sums_of_columns<kLanes>(op, range, words, shared_sums);
  } else if (fits) {
    add_up(walk, places, shared_sums, range.count);
    write_sums<kLanes>(op, range, shared_sums);
  } else {
    add_up(walk, places, values, range.count);
    if (op.alpha != Value{1}) write_sums<kLanes>(op, range, values);
  }
}

/// The row of a team of four warps, each with sums of its own or all with the same.
template <Structure kStructure, class Value>
__device__ void make_by_team(const MakeRows<Value>& op, const BitRange& range, std::byte* bytes,
                             Sources<32, Value>* sources, int* scratch) {
  constexpr int kLanes = 32 * kWarpsOfATeam;
  const Offset of_row = op.a.row_end(range.row) - op.a.row_begin(range.row);
  if (op.shared_sums.suit(op.profile.products[range.row], of_row)) {
    make_bit_range<kLanes, 1, kStructure, true>(op, range, AllColumns{}, bytes,
                                                static_cast<Sources<kLanes, Value>*>(nullptr),
                                                nullptr, scratch);
  } else {
    make_bit_range<kLanes, kWarpsOfATeam, kStructure, false>(op, range, AllColumns{}, bytes,
                                                             sources, nullptr, scratch);
  }
}

/// Warps that have no room for sums of their own leave.
template <class Value, Structure kStructure>
__global__ void __launch_bounds__(32 * kMostWarpsOfATeam, 2)
    make_by_large_team(MakeRows<Value> op, RowList list, int room) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ int scratch[32];
  __shared__ Sources<32, Value> sources[kMostWarpsOfATeam];
  const BitRange range = range_of(op, list.rows[blockIdx.x], room);
  const int warps = warps_of_large_team(static_cast<std::uint32_t>(range.words),
                                        static_cast<std::uint32_t>(range.count), sizeof(Value),
                                        static_cast<std::uint64_t>(op.most_large_team_bytes));
  if (static_cast<int>(threadIdx.x) >= 32 * warps) return;
  const auto make_by_warps = [&](auto of_team) {
    constexpr int kWarps = decltype(of_team)::value;
    make_bit_range<32 * kWarps, kWarps, kStructure, false>(op, range, AllColumns{}, shared_bytes,
                                                           sources, nullptr, scratch);
  };
  if (warps == kMostWarpsOfATeam) {
    make_by_warps(std::integral_constant<int, kMostWarpsOfATeam>{});
  } else if (warps == kMostWarpsOfATeam / 2) {
    make_by_warps(std::integral_constant<int, kMostWarpsOfATeam / 2>{});
  } else {
    make_by_team<kStructure>(op, range, shared_bytes, sources, scratch);
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
  const BitRange range = range_of(op, row, room);
  std::byte* const bytes = shared_bytes + threadIdx.x / kLanes * room;
  if constexpr (kWalkers > 1) {
    make_by_team<kStructure>(op, range, bytes, sources, scratch);
  } else {
    make_bit_range<kLanes, kWalkers, kStructure, false>(
        op, range, AllColumns{}, bytes, sources + threadIdx.x / kLanes, nullptr, scratch);
  }
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
  const Offset to = op.c.row_offsets[part.row] + parts.starts[item];
  const auto count = static_cast<int>(parts.counts[item]);
  const BitRange range = {part.row, part.first_word, part.words, to, count, room, true};
  const ColumnRange columns = {Offset{range.first_word} << kWordLog2,
                               (Offset{range.first_word} + range.words) << kWordLog2};
  make_bit_range<kThreads, 1, kStructure, false>(op, range, columns, shared_bytes, &sources, bids,
                                                 scratch);
}

/// One launch over the rows of a bin.
template <Structure kStructure, class Value>
void launch_bin(MakeBin bin, const MakeRows<Value>& op, const RowList& list, int room,
                cudaStream_t stream) {
  constexpr int kFour = 128;  // threads of a block for four rows
  constexpr int kTeam = 32 * kWarpsOfATeam, kLarge = 32 * kMostWarpsOfATeam;
  constexpr int kBlock = kThreadsOfBlock, kWhole = kThreadsOfWhole;
  if (bin <= MakeBin::bit_range_13k) {
    launch_rows<kFour, 32>(make_by_bit_range<Value, 32, 1, kFour, kStructure>, "make_by_bit_range",
                           list.count, room, stream, op, list, room);
  } else if (bin <= MakeBin::bit_range_twins_14k) {
    launch_rows<kFour, 32>(make_twin_rows<Value, kFour, kStructure>, "make_twin_rows", list.count,
                           room, stream, op, list, room);
  } else if (bin == MakeBin::bit_range_wide) {
    launch_rows<kFour, 32>(make_wide_rows<Value, kFour, kStructure>, "make_wide_rows", list.count,
                           room, stream, op, list, room);
  } else if (bin <= MakeBin::bit_range_team_96k) {
    launch_rows<kTeam, kTeam>(make_by_bit_range<Value, kTeam, kWarpsOfATeam, kTeam, kStructure>,
                              "make_by_bit_range", list.count, room, stream, op, list, room);
  } else if (bin == MakeBin::bit_range_large_team) {
    launch_rows<kLarge, kLarge>(make_by_large_team<Value, kStructure>, "make_by_large_team",
                                list.count, room, stream, op, list, room);
  } else if (bin == MakeBin::bit_range_block) {
    launch_rows<kBlock, kBlock>(make_by_bit_range<Value, kBlock, 1, kBlock, kStructure>,
                                "make_by_bit_range", list.count, room, stream, op, list, room);
  } else if (bin == MakeBin::bit_range_whole) {
    launch_rows<kWhole, kWhole>(make_by_bit_range<Value, kWhole, 1, kWhole, kStructure>,
                                "make_by_bit_range", list.count, room, stream, op, list, room);
  } else {
    throw std::logic_error("adaptive_rows: a bin without bit ranges");
  }
}

}  // namespace bit_ranges

template <class Value>
void make_rows_by_bit_range(MakeBin bin, Structure structure, const MakeRows<Value>& op,
                            const RowList& list, int room, cudaStream_t stream) {
  if (structure == Structure::known) {
    bit_ranges::launch_bin<Structure::known>(bin, op, list, room, stream);
  } else {
    bit_ranges::launch_bin<Structure::wanted>(bin, op, list, room, stream);
  }
}

template <class Value>
void make_rows_in_parts(Structure structure, const MakeRows<Value>& op, const BinRules& rules,
                        const RowParts& parts, cudaStream_t stream) {
  constexpr int kThreads = 512;
  const auto kernel = structure == Structure::known
                          ? bit_ranges::make_part_by_bit_range<Value, kThreads, Structure::known>
                          : bit_ranges::make_part_by_bit_range<Value, kThreads, Structure::wanted>;
  launch_rows<kThreads, kThreads>(kernel, "make_part_by_bit_range", parts.count,
                                  rules.most_part_bytes, stream, op, rules, parts,
                                  rules.most_part_bytes);
}

}  // namespace csrkit::gpu

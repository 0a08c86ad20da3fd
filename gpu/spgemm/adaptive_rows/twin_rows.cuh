// Rows of C whose rows of A have the same columns, in adaptive_rows.
// Owns     a warp: two to six twins, three or six at a time
// Reads    the rows' values of A; B's columns and values once for all of them, and before that B's
//          columns alone, unless counting has kept the bits. In shared memory the words of a range
//          of bits, and the sums of the rows side by side
// Needs    rows of B that are not short, and sums that fit: the rules of the bins guarantee both
// Against  a row at a time: here three rows share the load of a column and the lookup of its place.
//          Each row's sums keep their order, so the bits are those of a row made alone
#pragma once

#include "gpu/spgemm/adaptive_rows/make.h"
#include "gpu/spgemm/adaptive_rows/row_columns.cuh"
#include "gpu/spgemm/adaptive_rows/row_sums.cuh"

namespace csrkit::gpu::bit_ranges {

struct Word {
  std::uint32_t bits;
  std::uint32_t before;  // the number of entries of the row, or of the part, in lower words
};
static_assert(sizeof(Word) == kTableEntryBytes);

inline __device__ std::uint32_t place_of(const Word* words, Index first_word, Index col) {
  const Word word = words[(col >> kWordLog2) - first_word];
  return word.before + static_cast<std::uint32_t>(__popc(word.bits & ((1u << (col & 31)) - 1)));
}

/// The places of columns in a row of C, by the words of all columns in its range.
struct PlacesByWord {
  const Word* words;
  Index first_word;

  __device__ std::uint32_t of(Index col) const { return place_of(words, first_word, col); }
};

/// The row or part of one group.
template <class Value>
struct BitRange {
  Index row;
  Index first_word;
  int words;
  Offset to;  // where its entries begin in C
  int room;   // bytes of shared memory
  bool is_part = false;
};

/// The bits that counting kept of a row, or null. Not used where C's columns are known, which hold
/// the same.
template <Structure kStructure, class Value>
__device__ const std::uint32_t* kept_bits_of(const MakeRows<Value>& op,
                                             const BitRange<Value>& range) {
  if (kStructure == Structure::known || range.is_part) return nullptr;
  const std::uint32_t first = op.profile.first_bits[range.row];
  return (first & RowProfile::kInPairs) == 0 ? op.profile.bits + first : nullptr;
}

/// Calls f with each column of a row of C, if it is known, or of its products, in any order. By a
/// warp.
template <Structure kStructure, class Value, class F>
__device__ void for_each_column(const MakeRows<Value>& op, const BitRange<Value>& range, int count,
                                const F& f) {
  if constexpr (kStructure == Structure::known) {
    for (int i = static_cast<int>(threadIdx.x & 31); i < count; i += 32) {
      f(op.c.col_indices[range.to + i]);
    }
  } else {
    walk_by_source<32, ProductColumn>(op.a, op.b, entries_of_row(op.a, range.row), AllColumns{},
                                      [&](const ProductColumn(&entries)[kSegments], BySource) {
#pragma unroll
                                        for (int u = 0; u < kSegments; ++u) {
                                          if (entries[u].col >= 0) f(entries[u].col);
                                        }
                                      });
  }
}

/// All words of a range.
struct AllWords {
  int count = 0;
  const Word* words = nullptr;

  __device__ int number(int at) const { return at; }
  __device__ std::uint32_t bits(int at) const { return words[at].bits; }
};
/// The words that have a bit, as counting kept them.
struct KeptPairs {
  int count = 0;
  const std::uint32_t* pairs = nullptr;  // pairs of a word's number and its bits; null: not kept

  __device__ int number(int at) const { return static_cast<int>(__ldg(pairs + 2 * at)); }
  __device__ std::uint32_t bits(int at) const { return __ldg(pairs + 2 * at + 1); }
};

template <Structure kStructure, class Value>
__device__ KeptPairs kept_pairs_of(const MakeRows<Value>& op, const BitRange<Value>& range) {
  if (kStructure == Structure::known || range.is_part) return {};
  const std::uint32_t first = op.profile.first_bits[range.row];
  if (first == RowProfile::kNotKept || (first & RowProfile::kInPairs) == 0) return {};
  const std::uint32_t* const kept = op.profile.bits + (first & ~RowProfile::kInPairs);
  if (*kept == RowProfile::kNotKept) return {};
  return {static_cast<int>(*kept), kept + 1};
}

/// Fills the listed words from `begin` to `end`, with the number of entries before each: `before`
/// before the first. Writes their columns to `columns_out` if they are wanted. By a warp.
template <Structure kStructure, class List>
__device__ void number_words(Word* words, const List& list, int begin, int end, int before,
                             Index first_word, Index* columns_out) {
  const auto lane = static_cast<int>(threadIdx.x & 31);
  for (; begin < end; begin += 32) {
    const int at = begin + lane;
    const bool is_there = at < end;
    std::uint32_t bits = is_there ? list.bits(at) : 0;
    const int number = is_there ? list.number(at) : 0;
    const Index word_col = (first_word + number) << kWordLog2;
    unsigned left = __ballot_sync(kAllLanes, bits != 0);
    const auto most = static_cast<int>(__reduce_max_sync(kAllLanes, __popc(bits)));
    if (__popc(left) < most) {  // one word at a time, a lane for each of its columns
      int place = before;
      for (; left != 0; left &= left - 1) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        const std::uint32_t of_word = __shfl_sync(kAllLanes, bits, from);
        const Index from_col = __shfl_sync(kAllLanes, word_col, from);
        if (kStructure == Structure::wanted && (of_word >> lane & 1) != 0) {
          columns_out[before + __popc(of_word & ((1u << lane) - 1))] = from_col + lane;
        }
        before += __popc(of_word);
        if (lane > from) place = before;
      }
      if (is_there) words[number] = {bits, static_cast<std::uint32_t>(place)};
      continue;
    }
    int total = 0;
    int place = before + Group<32>::exclusive_sum<int>(__popc(bits), total, nullptr);
    before += total;
    if (is_there) words[number] = {bits, static_cast<std::uint32_t>(place)};
    if constexpr (kStructure == Structure::wanted) {
      for (; bits != 0; bits &= bits - 1) {
        columns_out[place++] = word_col + __ffs(static_cast<int>(bits)) - 1;
      }
    }
  }
}

/// The same for all listed words, by a warp or a block. `scratch`: a number for each warp, in
/// shared memory.
template <int kLanes, Structure kStructure, class List>
__device__ void number_words(Word* words, const List& list, Index first_word, Index* columns_out,
                             [[maybe_unused]] int* scratch) {
  using G = Group<kLanes>;
  if constexpr (!G::kIsBlock) {
    number_words<kStructure>(words, list, 0, list.count, 0, first_word, columns_out);
  } else {
    const int warp = G::rank() / 32, lane = G::lane();
    const int each = (list.count + G::kWarps - 1) / G::kWarps;
    const int begin = min(warp * each, list.count), end = min(begin + each, list.count);
    int entries = 0;
    for (int at = begin + lane; at < end; at += 32) entries += __popc(list.bits(at));
    entries = __reduce_add_sync(kAllLanes, entries);
    if (lane == 0) scratch[warp] = entries;
    __syncthreads();
    const int before = __reduce_add_sync(kAllLanes, lane < warp ? scratch[lane] : 0);
    number_words<kStructure>(words, list, begin, end, before, first_word, columns_out);
  }
}

/// Adds up the products of kTwins rows from the `first_twin`th on. The kTwins sums of an entry are
/// contiguous.
template <int kTwins, class Places, class Value>
__device__ void add_up_twins(const MakeRows<Value>& op, const BitRange<Value>& range,
                             const TwinRows& twins, int first_twin, const Places& places,
                             Value* sums) {
  constexpr int kAtOnce = kTwins * sizeof(Value) <= 24 ? 4 : 2;  // loads of B in flight
  const unsigned lane = threadIdx.x & 31;
  const EntriesOfA of_row = entries_of_row(op.a, range.row);
  const Offset end = of_row.begin + of_row.count;
  for (Offset at = of_row.begin; at < end; at += 32) {
    Offset my_first = 0;
    unsigned my_length = 0;
    Value my_values[kTwins] = {};
    if (at + lane < end) {
      const Index source = __ldg(op.a.col_indices + at + lane);
      my_first = op.b.row_begin(source);
      my_length = static_cast<unsigned>(op.b.row_end(source) - my_first);
#pragma unroll
      for (int twin = 0; twin < kTwins; ++twin) {
        const Offset begin = op.a.row_begin(twins[first_twin + twin]);
        my_values[twin] = value_of(op.a, begin + (at - of_row.begin) + lane);
      }
    }
    const auto sources = static_cast<int>(min(end - at, Offset{32}));
    int source = 0;
    unsigned done = 0, length = 0;
    Offset first = 0;
    Value x[kTwins] = {};
    bool is_next = true;
    while (source < sources) {
      Index cols[kAtOnce];
      Value values[kAtOnce], factors[kAtOnce][kTwins];
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        if (is_next) {
          first = __shfl_sync(kAllLanes, my_first, source & 31);
          length = __shfl_sync(kAllLanes, my_length, source & 31);
#pragma unroll
          for (int twin = 0; twin < kTwins; ++twin) {
            x[twin] = __shfl_sync(kAllLanes, my_values[twin], source & 31);
          }
        }
        const unsigned position = done + lane;
        const bool is_there = source < sources && position < length;
        cols[u] = is_there ? __ldg(op.b.col_indices + first + position) : -1;
        values[u] = is_there ? value_of(op.b, first + position) : Value{};
#pragma unroll
        for (int twin = 0; twin < kTwins; ++twin) factors[u][twin] = x[twin];
        done += 32;
        is_next = done >= length;
        if (is_next) {
          done = 0;
          ++source;
        }
      }
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        if (cols[u] >= 0) {
          Value* const of_entry = sums + places.of(cols[u]) * kTwins;
          Value terms[kTwins];
#pragma unroll
          for (int twin = 0; twin < kTwins; ++twin) terms[twin] = of_entry[twin];
#pragma unroll
          for (int twin = 0; twin < kTwins; ++twin) {
            terms[twin] = add_product(op.semiring, terms[twin], factors[u][twin], values[u]);
          }
#pragma unroll
          for (int twin = 0; twin < kTwins; ++twin) of_entry[twin] = terms[twin];
        }
        __syncwarp();
      }
    }
  }
}

/// Makes the values of kTwins rows from the `first_twin`th on.
template <int kTwins, class Places, class Value>
__device__ void make_values_of_twins(const MakeRows<Value>& op, const BitRange<Value>& range,
                                     const TwinRows& twins, int first_twin, int count,
                                     const Places& places, Value* sums) {
  const auto lane = static_cast<int>(threadIdx.x & 31);
  const Value nothing = empty_sum<Value>(op.semiring);
  for (int i = lane; i < count * kTwins; i += 32) sums[i] = nothing;
  __syncwarp();
  add_up_twins<kTwins>(op, range, twins, first_twin, places, sums);
#pragma unroll
  for (int twin = 0; twin < kTwins; ++twin) {
    if (first_twin + twin >= twins.count()) break;
    Value* const to = op.c.values + op.c.row_offsets[twins[first_twin + twin]];
    for (int i = lane; i < count; i += 32) to[i] = op.alpha * sums[i * kTwins + twin];
  }
  __syncwarp();
}

/// Makes the row of `range` and its twins, of `count` entries each, once their places are known.
/// `columns_out` has their columns; `most_sums` fit into `sums`. They may share memory.
template <Structure kStructure, class Places, class Value>
__device__ void make_placed_twins(const MakeRows<Value>& op, const BitRange<Value>& range,
                                  const TwinRows& twins, int count, const Places& places,
                                  const Index* columns_out, Value* sums, int most_sums) {
  const auto lane = static_cast<int>(threadIdx.x & 31);
  if constexpr (kStructure == Structure::wanted) {
    for (int twin = 0; twin < twins.count(); ++twin) {
      Index* const to = op.c.col_indices + op.c.row_offsets[twins[twin]];
      for (int i = lane; i < count; i += 32) to[i] = columns_out[i];
    }
    __syncwarp();
  }
  constexpr int kAll = kMostTwins, kHalf = kMostTwins / 2;
  if (twins.count() > kHalf && count * kAll <= most_sums) {
    make_values_of_twins<kAll>(op, range, twins, 0, count, places, sums);
  } else {
    for (int first = 0; first < twins.count(); first += kHalf) {
      make_values_of_twins<kHalf>(op, range, twins, first, count, places, sums);
    }
  }
}

/// Makes the row of `range` and its twins, of `count` entries each.
template <Structure kStructure, class Value>
__device__ void make_twins(const MakeRows<Value>& op, const BitRange<Value>& range, int count,
                           std::byte* bytes) {
  const TwinRows twins(op.profile, range.row);
  const auto lane = static_cast<int>(threadIdx.x & 31);
  Word* words = reinterpret_cast<Word*>(bytes);
  const std::uint32_t* const kept_bits = kept_bits_of<kStructure>(op, range);
  for (int i = lane; i < range.words; i += 32) {
    words[i].bits = kept_bits != nullptr ? kept_bits[i] : 0;
  }
  __syncwarp();
  const auto mark = [&](Index col) {
    set_bits(&words[(col >> kWordLog2) - range.first_word].bits, 1u << (col & 31));
  };
  if (kept_bits == nullptr) for_each_column<kStructure>(op, range, count, mark);
  __syncwarp();
  Value* const sums = reinterpret_cast<Value*>(words + range.words);
  // Staged in the memory of the sums, so that writes to C are coalesced.
  Index* const columns_out = reinterpret_cast<Index*>(sums);
  number_words<32, kStructure>(words, AllWords{range.words, words}, range.first_word, columns_out,
                               nullptr);
  __syncwarp();
  const int bytes_of_sums = range.room - range.words * kTableEntryBytes;
  make_placed_twins<kStructure>(op, range, twins, count, PlacesByWord{words, range.first_word},
                                columns_out, sums, bytes_of_sums / static_cast<int>(sizeof(Value)));
}

/// A warp for each row of the list and its twins. Registers are limited: rows wait for B.
template <class Value, int kThreads, Structure kStructure>
__global__ void __launch_bounds__(kThreads, sizeof(Value) == 4 ? 7 : 5)
    make_twin_rows(MakeRows<Value> op, RowList list, int room) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  const Offset item = Offset{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  if (item >= list.count) return;  // a whole warp
  const Index row = list.rows[item];
  const Offset to = op.c.row_offsets[row];
  const int count = static_cast<int>(op.c.row_offsets[Offset{row} + 1] - to);
  const BitRange<Value> range = {row, op.profile.first_word[row], op.profile.words[row], to, room};
  make_twins<kStructure>(op, range, count, shared_bytes + threadIdx.x / 32 * room);
}

}  // namespace csrkit::gpu::bit_ranges

// Rows of C on a wide range of columns of which few are there, in adaptive_rows.
// Owns     a warp: one row, or up to six twins, three or six at a time
// Reads    what bit_range.cuh reads. Shared memory holds only the words that have a bit, in
//          sequence, and for every 32 words of the range a group: which of its words have one, and
//          how many do before it. So a column's place takes two lookups
// Needs    the pairs that counting has kept; else B's columns are read twice more, first for the
//          groups
// Against  bit_range.cuh, which has all words of the range: on a mesh whose nodes are numbered
//          in any order these take more room than the sums, and a block for each row

#pragma once

#include "gpu/spgemm/adaptive_rows/numeric/bit_range/bit_words.cuh"
#include "gpu/spgemm/adaptive_rows/numeric/bit_range/twin_rows.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"

namespace csrkit::gpu::bit_ranges {

/// The places of columns in a row of C, by groups of 32 words and the words that have a bit.
struct PlacesByGroup {
  Word* groups;
  Word* words;
  Index first_word;

  __device__ static std::uint32_t bits_below(const Word& word, int bit) {
    return word.before + static_cast<std::uint32_t>(__popc(word.bits & ((1u << bit) - 1)));
  }
  /// Where the word of a column is among those that have a bit.
  __device__ std::uint32_t word_of(Index number) const {
    return bits_below(groups[number >> 5], number & 31);
  }
  __device__ std::uint32_t of(Index col) const {
    return bits_below(words[word_of((col >> kWordLog2) - first_word)], col & 31);
  }
};

/// Numbers the words that have a bit: fills group.before, and the words with their numbers in the
/// place of `before`. Returns how many there are. By a warp.
inline __device__ int number_groups(const PlacesByGroup& places, int groups) {
  const auto lane = static_cast<int>(threadIdx.x & 31);
  int before = 0;
  for (int begin = 0; begin < groups; begin += 32) {
    const int at = begin + lane;
    std::uint32_t bits = at < groups ? places.groups[at].bits : 0;
    int total = 0;
    int place = before + Group<32>::exclusive_sum<int>(__popc(bits), total, nullptr);
    before += total;
    if (at < groups) places.groups[at].before = static_cast<std::uint32_t>(place);
    for (; bits != 0; bits &= bits - 1) {
      const auto number = static_cast<std::uint32_t>(at * 32 + __ffs(static_cast<int>(bits)) - 1);
      places.words[place++] = {0, number};
    }
  }
  __syncwarp();
  return before;
}

/// Fills groups and words of a row. By a warp.
template <Structure kStructure, class Value>
__device__ void fill_places(const MakeRows<Value>& op, const BitRange& range,
                            const PlacesByGroup& places, Index* columns_out) {
  const auto lane = static_cast<int>(threadIdx.x & 31);
  const int groups = (range.words + 31) / 32;
  const KeptPairs pairs = kept_pairs_of<kStructure>(op, range);
  const bool has_pairs = pairs.pairs != nullptr;
  const auto set_group = [&](Index number) {
    set_bits(&places.groups[number >> 5].bits, 1u << (number & 31));
  };
  for (int i = lane; i < groups; i += 32) places.groups[i].bits = 0;
  __syncwarp();
  if (has_pairs) {
    for (int i = lane; i < pairs.count; i += 32) set_group(pairs.number(i));
  } else {
    for_each_column<kStructure>(
        op, range, [&](Index col) { set_group((col >> kWordLog2) - range.first_word); });
  }
  __syncwarp();
  const int words = number_groups(places, groups);
  if (has_pairs) {
    for (int i = lane; i < words; i += 32) places.words[i].bits = pairs.bits(i);
  } else {
    for_each_column<kStructure>(op, range, [&](Index col) {
      const Index number = (col >> kWordLog2) - range.first_word;
      set_bits(&places.words[places.word_of(number)].bits, 1u << (col & 31));
    });
  }
  __syncwarp();
  int before = 0;
  for (int begin = 0; begin < words; begin += 32) {
    const int at = begin + lane;
    const Word word = at < words ? places.words[at] : Word{0, 0};
    int total = 0;
    int place = before + Group<32>::exclusive_sum<int>(__popc(word.bits), total, nullptr);
    before += total;
    if (at < words) places.words[at].before = static_cast<std::uint32_t>(place);
    if constexpr (kStructure == Structure::wanted) {
      const Index first_col = (range.first_word + static_cast<Index>(word.before)) << kWordLog2;
      for (std::uint32_t bits = word.bits; bits != 0; bits &= bits - 1) {
        columns_out[place++] = first_col + __ffs(static_cast<int>(bits)) - 1;
      }
    }
  }
  __syncwarp();
}

template <Structure kStructure, class Value>
__device__ void make_wide_row(const MakeRows<Value>& op, const BitRange& range, std::byte* bytes,
                              Sources<32, Value>& sources) {
  const auto lane = static_cast<int>(threadIdx.x & 31);
  const int groups = (range.words + 31) / 32, most_words = min(range.words, range.count);
  Word* const words = reinterpret_cast<Word*>(bytes);
  const PlacesByGroup places = {words, words + groups, range.first_word};
  Value* const sums = reinterpret_cast<Value*>(words + groups + most_words);
  // Staged in the memory of the sums, so that writes to C are coalesced.
  Index* const columns_out = reinterpret_cast<Index*>(sums);
  fill_places<kStructure>(op, range, places, columns_out);
  if (op.has_twins && op.profile.twins[range.row] > 0) {
    const int bytes_of_sums = range.room - (groups + most_words) * kTableEntryBytes;
    return make_placed_twins<kStructure>(op, range, TwinRows(op.profile, range.row), places,
                                         columns_out, sums,
                                         bytes_of_sums / static_cast<int>(sizeof(Value)));
  }
  if constexpr (kStructure == Structure::wanted) {
    for (int i = lane; i < range.count; i += 32) op.c.col_indices[range.to + i] = columns_out[i];
    __syncwarp();
  }
  const Value nothing = empty_sum<Value>(op.semiring);
  for (int i = lane; i < range.count; i += 32) sums[i] = nothing;
  __syncwarp();
  const EntriesOfA of_row = entries_of_row(op.a, range.row);
  const bool is_packed = suits_packing<32>(op.profile.products[range.row], of_row.count);
  WarpTurns turns;
  walk_products<32, Product<Value>>(op.a, op.b, of_row, AllColumns{}, is_packed, &sources,
                                    [&](const Product<Value>(&entries)[kSegments], auto way) {
                                      std::uint32_t at[kSegments];
#pragma unroll
                                      for (int u = 0; u < kSegments; ++u) {
                                        at[u] = entries[u].col < 0 ? 0 : places.of(entries[u].col);
                                      }
                                      add_products<32>(entries, at, sums, op.semiring, way, turns);
                                    });
  __syncwarp();
  for (int i = lane; i < range.count; i += 32) op.c.values[range.to + i] = op.alpha * sums[i];
}

/// A warp for each row.
template <class Value, int kThreads, Structure kStructure>
__global__ void __launch_bounds__(kThreads)
    make_wide_rows(MakeRows<Value> op, RowList list, int room) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ Sources<32, Value> sources[kThreads / 32];
  const Offset item = Offset{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  if (item >= list.count) return;  // a whole warp
  make_wide_row<kStructure>(op, range_of(op, list.rows[item], room),
                            shared_bytes + threadIdx.x / 32 * room, sources[threadIdx.x / 32]);
}

}  // namespace csrkit::gpu::bit_ranges

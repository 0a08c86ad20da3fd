// The words of a row's range of columns, in shared memory: a bit for each column that C has, and
// the number of entries before the word. So a column's place in the row is one lookup. Here: the
// row or part of a group, the words that counting has kept of it, and numbering words.
#pragma once

#include "gpu/spgemm/adaptive_rows/numeric/make.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_columns.cuh"

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
struct BitRange {
  Index row;
  Index first_word;
  int words;
  Offset to;  // where its entries begin in C,
  int count;  // and how many there are
  int room;   // bytes of shared memory
  bool is_part = false;
};

template <class Value>
__device__ BitRange range_of(const MakeRows<Value>& op, Index row, int room) {
  const Offset to = op.c.row_offsets[row];
  const auto count = static_cast<int>(op.c.row_offsets[Offset{row} + 1] - to);
  return {row, op.profile.first_word[row], op.profile.words[row], to, count, room};
}

/// The bits that counting kept of a row, or null. Not used where C's columns are known, which hold
/// the same.
template <Structure kStructure, class Value>
__device__ const std::uint32_t* kept_bits_of(const MakeRows<Value>& op, const BitRange& range) {
  if (kStructure == Structure::known || range.is_part) return nullptr;
  const std::uint32_t first = op.profile.first_bits[range.row];
  return (first & RowProfile::kInPairs) == 0 ? op.profile.bits + first : nullptr;
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
__device__ KeptPairs kept_pairs_of(const MakeRows<Value>& op, const BitRange& range) {
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

}  // namespace csrkit::gpu::bit_ranges

// Rows of C whose rows of A have the same columns, in adaptive_rows.
// Owns     a warp: two to six twins, three or six at a time
// Reads    the rows' values of A; B's columns and values once for all of them, and before that B's
//          columns alone, unless counting has kept the bits. In shared memory the words of a range
//          of bits, and the sums of the rows side by side
// Needs    rows of B that are not short, and sums that fit: the rules of the bins guarantee both
// Against  a row at a time: here three rows share the load of a column and the lookup of its place.
//          Each row's sums keep their order, so the bits are those of a row made alone
#pragma once

#include "gpu/spgemm/adaptive_rows/numeric/bit_range/bit_words.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"

namespace csrkit::gpu::bit_ranges {

/// Calls f with each column of a row of C, if it is known, or of its products, in any order. By a
/// warp.
template <Structure kStructure, class Value, class F>
__device__ void for_each_column(const MakeRows<Value>& op, const BitRange& range, const F& f) {
  if constexpr (kStructure == Structure::known) {
    for (int i = static_cast<int>(threadIdx.x & 31); i < range.count; i += 32) {
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

/// Adds up the products of kTwins rows from the `first_twin`th on. The kTwins sums of an entry are
/// contiguous.
template <int kTwins, class Places, class Value>
__device__ void add_up_twins(const MakeRows<Value>& op, const BitRange& range,
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
__device__ void make_values_of_twins(const MakeRows<Value>& op, const BitRange& range,
                                     const TwinRows& twins, int first_twin, const Places& places,
                                     Value* sums) {
  const auto lane = static_cast<int>(threadIdx.x & 31);
  const Value nothing = empty_sum<Value>(op.semiring);
  for (int i = lane; i < range.count * kTwins; i += 32) sums[i] = nothing;
  __syncwarp();
  add_up_twins<kTwins>(op, range, twins, first_twin, places, sums);
#pragma unroll
  for (int twin = 0; twin < kTwins; ++twin) {
    if (first_twin + twin >= twins.count()) break;
    Value* const to = op.c.values + op.c.row_offsets[twins[first_twin + twin]];
    for (int i = lane; i < range.count; i += 32) to[i] = op.alpha * sums[i * kTwins + twin];
  }
  __syncwarp();
}

/// Makes the row of `range` and its twins, which have its columns, once their places are known.
/// `columns_out` has their columns; `most_sums` fit into `sums`. They may share memory.
template <Structure kStructure, class Places, class Value>
__device__ void make_placed_twins(const MakeRows<Value>& op, const BitRange& range,
                                  const TwinRows& twins, const Places& places,
                                  const Index* columns_out, Value* sums, int most_sums) {
  const auto lane = static_cast<int>(threadIdx.x & 31);
  if constexpr (kStructure == Structure::wanted) {
    for (int twin = 0; twin < twins.count(); ++twin) {
      Index* const to = op.c.col_indices + op.c.row_offsets[twins[twin]];
      for (int i = lane; i < range.count; i += 32) to[i] = columns_out[i];
    }
    __syncwarp();
  }
  constexpr int kAll = kMostTwins, kHalf = kMostTwins / 2;
  if (twins.count() > kHalf && range.count * kAll <= most_sums) {
    make_values_of_twins<kAll>(op, range, twins, 0, places, sums);
  } else {
    for (int first = 0; first < twins.count(); first += kHalf) {
      make_values_of_twins<kHalf>(op, range, twins, first, places, sums);
    }
  }
}

/// Makes the row of `range` and its twins.
template <Structure kStructure, class Value>
__device__ void make_twins(const MakeRows<Value>& op, const BitRange& range, std::byte* bytes) {
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
  if (kept_bits == nullptr) for_each_column<kStructure>(op, range, mark);
  __syncwarp();
  Value* const sums = reinterpret_cast<Value*>(words + range.words);
  // Staged in the memory of the sums, so that writes to C are coalesced.
  Index* const columns_out = reinterpret_cast<Index*>(sums);
  number_words<32, kStructure>(words, AllWords{range.words, words}, range.first_word, columns_out,
                               nullptr);
  __syncwarp();
  const int bytes_of_sums = range.room - range.words * kTableEntryBytes;
  make_placed_twins<kStructure>(op, range, twins, PlacesByWord{words, range.first_word},
                                columns_out, sums, bytes_of_sums / static_cast<int>(sizeof(Value)));
}

/// A warp for each row of the list and its twins. Registers are limited: rows wait for B.
template <class Value, int kThreads, Structure kStructure>
__global__ void __launch_bounds__(kThreads, sizeof(Value) == 4 ? 7 : 5)
    make_twin_rows(MakeRows<Value> op, RowList list, int room) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  const Offset item = Offset{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  if (item >= list.count) return;  // a whole warp
  make_twins<kStructure>(op, range_of(op, list.rows[item], room),
                         shared_bytes + threadIdx.x / 32 * room);
}

}  // namespace csrkit::gpu::bit_ranges

// Walks of a group of lanes over the products of a row of C, with values.
//
// A group is 8, 16 or 32 lanes of a warp, or a whole block of more. It meets the products of a row
// of C in the order of A's columns, kSegments pieces of one product per lane at a time, in one of
// two ways:
//   by source  each piece is of one row of B, so all its columns differ and sums need no atomics; a
//              barrier between pieces fixes the order. For rows of B about as long as a group.
//   packed the products stand shoulder to shoulder, whatever row of B they are from; those of one
//              column are added up within each warp first, then warp by warp. For short rows of B.
// Either way the order in which an entry of C is added up depends on A and B alone, which is what
// makes the result the same in every run. It is mostly that of A's columns; BlockTurns says when
// not.
#pragma once

#include "gpu/spgemm/adaptive_rows/primitives/part_sources.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"
#include "gpu/spgemm/adaptive_rows/rules/rules.h"

namespace csrkit::gpu {

inline constexpr int kSegments = 4;  // loads of B in flight per lane

/// Limits of a walk: all columns of C.
struct AllColumns {
  static constexpr bool kIsPart = false;
};

/// One product of a lane; col < 0: none.
template <class Value>
struct Product {
  Index col;
  Value x, y;
};
struct ProductColumn {
  Index col;
};
/// With a number that tells in which order the sources of a row come.
template <class Value>
struct SourcedProduct {
  Index col;
  Value x, y;
  std::uint32_t source;
};

/// The entries of A of a walk: those of a row, or every `stride`-th of them.
struct EntriesOfA {
  Offset begin = 0;
  std::uint32_t count = 0;
  int stride = 1;
};

/// The entries of a row of B within the columns of a walk.
struct SourceEntries {
  Offset first = 0, last = 0;
};
template <class Value, class Columns>
__device__ SourceEntries entries_of_source(const DeviceCsrView<Value>& b, Index source,
                                           const Columns& columns) {
  SourceEntries entries = {b.row_begin(source), b.row_end(source)};
  if constexpr (Columns::kIsPart) {
    entries.first = lower_bound(b.col_indices, entries.first, entries.last, columns.first);
    entries.last = lower_bound(b.col_indices, entries.first, entries.last, columns.last);
  }
  return entries;
}

using BySource = std::false_type;
using Packed = std::true_type;

template <class Value>
__device__ EntriesOfA entries_of_row(const DeviceCsrView<Value>& a, Index row) {
  const Offset begin = a.row_begin(row);
  return {begin, static_cast<std::uint32_t>(a.row_end(row) - begin)};
}

/// Calls body(entries, BySource{}) with kSegments products, or columns of products, per lane. By
/// all lanes of the warp: a group without a row has no entries of A but takes part in its
/// neighbours' shuffles.
template <int kLanes, class Entry, class Value, class Columns, class Body>
__device__ void walk_by_source(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                               const EntriesOfA& of_a, const Columns& columns, const Body& body) {
  using G = Group<kLanes>;
  constexpr bool kWithValues = !std::is_same_v<Entry, ProductColumn>;
  const auto member = static_cast<unsigned>(G::lane() & (G::kBatch - 1));
  const unsigned rank = static_cast<unsigned>(G::rank());
  for (std::uint32_t done_of_a = 0; G::any(done_of_a < of_a.count); done_of_a += G::kBatch) {
    Offset my_first = 0;
    unsigned my_length = 0;
    Value my_value{};
    if (done_of_a + member < of_a.count) {
      const Offset at = of_a.begin + Offset{done_of_a + member} * of_a.stride;
      const SourceEntries mine = entries_of_source(b, __ldg(a.col_indices + at), columns);
      my_first = mine.first;
      my_length = static_cast<unsigned>(mine.last - mine.first);
      if constexpr (kWithValues) my_value = value_of(a, at);
    }
    const int sources = done_of_a < of_a.count
                            ? static_cast<int>(min(of_a.count - done_of_a, unsigned{G::kBatch}))
                            : 0;

    int source = 0;
    unsigned done = 0, length = 0;
    Offset first = 0;
    Value x{};
    bool is_next = true;
    while (G::any(source < sources)) {
      Entry entries[kSegments];
#pragma unroll
      for (int u = 0; u < kSegments; ++u) {
        if (kLanes < 32 || is_next) {  // uniform in the warp from 32 lanes on
          first = __shfl_sync(kAllLanes, my_first, source & (G::kBatch - 1), G::kBatch);
          length = __shfl_sync(kAllLanes, my_length, source & (G::kBatch - 1), G::kBatch);
          if constexpr (kWithValues) {
            x = __shfl_sync(kAllLanes, my_value, source & (G::kBatch - 1), G::kBatch);
          }
        }
        const unsigned position = done + rank;
        const bool is_there = source < sources && position < length;
        entries[u].col = is_there ? __ldg(b.col_indices + first + position) : -1;
        if constexpr (kWithValues) {
          entries[u].x = x;
          entries[u].y = is_there ? value_of(b, first + position) : Value{};
        }
        done += kLanes;
        is_next = done >= length;
        if (is_next) {
          done = 0;
          ++source;
        }
      }
      body(entries, BySource{});
    }
  }
}

/// The non-empty rows of B of a packed walk, in shared memory; one list per group.
template <int kLanes, class Value>
struct Sources {
  // of each source: add it to a product's number to get the place in B
  Offset shifts[kLanes];
  Value values[kLanes];                              // A's
  std::uint32_t starts[kLanes + 1];                  // the number of each source's first product
  unsigned long long scratch[kLanes > 32 ? 32 : 1];  // used by blocks
};

/// The source of product `number`: the last one that starts at or before it. `number` is uniform in
/// the warp.
template <int kLanes>
__device__ int find_source(const std::uint32_t* starts, int sources, std::uint32_t number) {
  constexpr int kStep = kLanes / 32;
  const int lane = static_cast<int>(threadIdx.x & 31);
  int first = 0;
  if constexpr (kStep > 1) {
    const int at = lane * kStep;
    const unsigned reached = __ballot_sync(kAllLanes, at < sources && starts[at] <= number);
    first = (__popc(reached) - 1) * kStep;
  }
  const int at = first + lane;
  const unsigned reached = __ballot_sync(
      kAllLanes, (kStep == 1 || lane < kStep) && at < sources && starts[at] <= number);
  return first + __popc(reached) - 1;
}

/// The source of each lane's product in a list of `products`, of which a warp takes 32 from
/// `warp_begin` on. `source`: that of the first of them, which a warp that walks alone must know;
/// becomes that of the first after them. A block finds it.
template <int kLanes>
__device__ int source_of_lane(const std::uint32_t* starts, int sources, std::uint32_t warp_begin,
                              std::uint32_t products, int& source) {
  using G = Group<kLanes>;
  if constexpr (G::kIsBlock) {
    source = find_source<kLanes>(starts, sources, min(warp_begin, products - 1));
  }
  // Which of the next 32 sources start within the warp's products?
  const int next = source + 1 + G::lane();
  const std::uint32_t start = next < sources ? starts[next] : UINT32_MAX;
  const unsigned distance = start - warp_begin;  // at least 1
  const unsigned begun = __reduce_or_sync(kAllLanes, distance < 32 ? 1u << distance : 0u);
  const int of_lane = source + __popc(begun & ((2u << G::lane()) - 1));
  if constexpr (!G::kIsBlock) source += __popc(__ballot_sync(kAllLanes, distance <= 32));
  return of_lane;
}

/// As walk_by_source, with body(entries, Packed{}). For whole warps and blocks, and rows of
/// fewer than 2^31 products.
template <int kLanes, class Entry, class Value, class Columns, class Body>
__device__ void walk_packed(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                            const EntriesOfA& of_a, const Columns& columns,
                            Sources<kLanes, Value>& list, const Body& body) {
  using G = Group<kLanes>;
  static_assert(kLanes >= 32 && kLanes <= 1024, "a packed walk is for whole warps");
  constexpr bool kWithValues = !std::is_same_v<Entry, ProductColumn>;
  const int rank = G::rank();
  for (std::uint32_t done_of_a = 0; done_of_a < of_a.count; done_of_a += kLanes) {
    const Offset at =
        of_a.begin + Offset{done_of_a + static_cast<std::uint32_t>(rank)} * of_a.stride;
    SourceEntries mine;
    if (done_of_a + static_cast<std::uint32_t>(rank) < of_a.count) {
      mine = entries_of_source(b, __ldg(a.col_indices + at), columns);
    }
    const auto length = static_cast<std::uint32_t>(mine.last - mine.first);
    // Two sums in one: products in the lower half, sources in the upper.
    unsigned long long total = 0;
    const unsigned long long before =
        G::exclusive_sum(length > 0 ? (1ull << 32) + length : 0ull, total, list.scratch);
    const auto sources = static_cast<int>(total >> 32);
    const auto products = static_cast<std::uint32_t>(total);
    G::sync();  // all lanes are done with the last batch
    if (length > 0) {
      const auto place = static_cast<int>(before >> 32);
      const auto start = static_cast<std::uint32_t>(before);
      list.starts[place] = start;
      list.shifts[place] = mine.first - start;
      if constexpr (kWithValues) list.values[place] = value_of(a, at);
    }
    G::sync();
    int source = 0;  // the source of the warp's first product
    for (std::uint32_t begin = 0; begin < products; begin += kLanes * kSegments) {
      Entry entries[kSegments];
#pragma unroll
      for (int u = 0; u < kSegments; ++u) {
        const std::uint32_t warp_begin =
            begin + static_cast<std::uint32_t>(u * kLanes + (rank & ~31));
        const std::uint32_t number = warp_begin + static_cast<std::uint32_t>(G::lane());
        const int of_lane =
            source_of_lane<kLanes>(list.starts, sources, warp_begin, products, source);
        const bool is_there = number < products;
        const Offset position = is_there ? list.shifts[of_lane] + number : 0;
        entries[u].col = is_there ? __ldg(b.col_indices + position) : -1;
        if constexpr (kWithValues) {
          entries[u].x = is_there ? list.values[of_lane] : Value{};
          entries[u].y = is_there ? value_of(b, position) : Value{};
        }
        if constexpr (std::is_same_v<Entry, SourcedProduct<Value>>) {
          entries[u].source = done_of_a + static_cast<std::uint32_t>(of_lane);
        }
      }
      body(entries, Packed{});
    }
  }
}

/// Chooses between the two walks. `is_packed` is uniform in the group.
template <int kLanes, class Entry, class Value, class Columns, class Body>
__device__ void walk_products(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                              const EntriesOfA& of_a, const Columns& columns,
                              [[maybe_unused]] bool is_packed,
                              [[maybe_unused]] Sources<kLanes, Value>* list, const Body& body) {
  if constexpr (kLanes >= 32) {
    if (is_packed) {
      walk_packed<kLanes, Entry>(a, b, of_a, columns, *list, body);
      return;
    }
  }
  walk_by_source<kLanes, Entry>(a, b, of_a, columns, body);
}

/// Whether rows of B are short enough for a packed walk to pay. Measured on an H200.
template <int kLanes>
__device__ bool suits_packing(std::uint32_t products, Offset sources) {
  if constexpr (kLanes > 32) return packs_in_block({products, 0, sources}, kLanes);
  return kLanes == 32 && products < 0x7fffffffu && products < sources * kShortSources;
}

}  // namespace csrkit::gpu

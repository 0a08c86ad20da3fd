// Makes a row from its products in registers: sorts them, adds them up, writes the entries of C.
#pragma once

#include "gpu/spgemm/adaptive_rows/numeric/make.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_sort.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"

namespace csrkit::gpu {

/// The shared memory of one row: first its sources, then its products.
template <class Value, class S, bool kHasTwins = false>
struct SortedRow {
  union {
    SourceList<Value, S, kHasTwins> sources;
    struct {
      Value products[S::kMost];       // by number
      std::uint32_t keys[S::kKeys];   // sorted
      std::uint16_t heads[S::kMost];  // where each entry starts among the keys
    } sorted;
  };
  std::uint32_t scratch[S::kIsBlock ? 32 : 1];
};

/// Adds up `entries` of C from sorted products and writes them from `to` on.
template <class S, class Value, class Sorted>
__device__ void write_sorted(const MakeRows<Value>& op, Structure structure, Index first_col,
                             std::uint32_t products, std::uint32_t entries, const Sorted& sorted,
                             Offset to) {
  for (auto entry = static_cast<std::uint32_t>(S::rank()); entry < entries; entry += S::kLanes) {
    const int begin = sorted.heads[entry];
    const int end = entry + 1 < entries ? sorted.heads[entry + 1] : static_cast<int>(products);
    const std::uint32_t key = sorted.keys[S::key_at(begin)];
    Value sum = sorted.products[key & S::kNumberMask];
    for (int next = begin + 1; next < end; ++next) {
      sum = add_sums(op.semiring, sum,
                     sorted.products[sorted.keys[S::key_at(next)] & S::kNumberMask]);
    }
    if (structure == Structure::wanted) {
      op.c.col_indices[to + entry] = first_col + static_cast<Index>(key >> S::kNumberBits);
    }
    op.c.values[to + entry] = op.alpha * sum;
  }
}

/// What a lane keeps of its products where a row has twins: B's values, and where in a row of A
/// their sources stand.
template <class S, class Value, bool kIsKept>
struct KeptProducts {
  Value values[kIsKept ? S::kItems : 1] = {};
  std::uint32_t places[kIsKept ? S::kItems : 1] = {};
};

/// Places of rows in C.
struct PlaceInC {
  DeviceOffsets row_offsets;
  Offset to;  // the row's

  __device__ Offset operator()(std::uint32_t) const { return to; }
  __device__ Offset of_twin(Index row, int, Offset, std::uint32_t) const {
    return row_offsets[row];
  }
};

/// Makes a row whose sources are listed in `space` (which may belong to a longer shape) and, if
/// kHasTwins, its twins: their products have the same order. place(entries) returns where they go,
/// or -1: they are dropped; place.of_twin(row, number, to, entries) where those of a twin go.
template <class S, bool kHasTwins, class Value, class Space, class Place>
__device__ void make_listed(const MakeRows<Value>& op, Structure structure, const SortItem& item,
                            std::uint32_t products, Space& space, const Place& place) {
  const int rank = S::rank();
  const Value nothing = empty_sum<Value>(op.semiring);
  std::uint32_t keys[S::kItems];
  Value terms[S::kItems];
  KeptProducts<S, Value, kHasTwins> kept;
#pragma unroll
  for (int i = 0; i < S::kItems; ++i) {
    keys[i] = ~0u;
    terms[i] = Value{};
  }
  for_products<S>(space.sources, products, [&](int i, std::uint32_t number, std::uint32_t source) {
    const Offset position = space.sources.shifts[source] + number;
    keys[i] = static_cast<std::uint32_t>(__ldg(op.b.col_indices + position) - item.first_col)
                  << S::kNumberBits |
              number;
    const Value of_b = value_of(op.b, position);
    terms[i] = add_product(op.semiring, nothing, space.sources.values[source], of_b);
    if constexpr (kHasTwins) {
      kept.values[i] = of_b;
      kept.places[i] = space.sources.places[source];
    }
  });
  S::sync();  // all lanes are done with the list
  auto& sorted = space.sorted;
#pragma unroll
  for (int i = 0; i < S::kItems; ++i) sorted.products[i * S::kLanes + rank] = terms[i];
  sort_keys<S>(keys, sorted.keys);
  S::sync();
  show_keys<S>(keys, sorted.keys);
  if constexpr (S::kIsBlock) __syncthreads();
  std::uint32_t before = 0, total = 0;
  const unsigned heads = find_heads<S>(keys, products, sorted.keys, space.scratch, before, total);
#pragma unroll
  for (int i = 0; i < S::kItems; ++i) {
    if ((heads >> i & 1) != 0) {
      sorted.heads[before++] = static_cast<std::uint16_t>(rank * S::kItems + i);
    }
  }
  const Offset to = place(total);
  S::sync();
  if (to < 0) return;
  write_sorted<S>(op, structure, item.first_col, products, total, sorted, to);
  if constexpr (kHasTwins) {
    if (!item.is_there) return;
    const TwinRows twins(op.profile, item.row);
    for (int twin = 1; twin < twins.count(); ++twin) {
      S::sync();  // all lanes are done with the products
      const Offset begin = op.a.row_begin(twins[twin]);
#pragma unroll
      for (int i = 0; i < S::kItems; ++i) {
        const auto number = static_cast<std::uint32_t>(i * S::kLanes + rank);
        if (number >= products) continue;
        sorted.products[number] = add_product(
            op.semiring, nothing, value_of(op.a, begin + kept.places[i]), kept.values[i]);
      }
      S::sync();
      write_sorted<S>(op, structure, item.first_col, products, total, sorted,
                      place.of_twin(twins[twin], twin, to, total));
    }
  }
}

template <class S, PartKind kPart, bool kHasTwins, class Value, class Place>
__device__ void make_sorted(const MakeRows<Value>& op, Structure structure, const SortItem& item,
                            const Place& place, SortedRow<Value, S, kHasTwins>& space) {
  const std::uint32_t products =
      list_sources<S, kPart>(op.a, op.b, item, space.sources, space.scratch);
  make_listed<S, kHasTwins>(op, structure, item, products, space, place);
}

}  // namespace csrkit::gpu

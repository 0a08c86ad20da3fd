// Makes a row from its products in registers: sorts them, adds them up, writes the entries of C.
#pragma once

#include "gpu/spgemm/adaptive_rows/make.h"
#include "gpu/spgemm/adaptive_rows/row_sort.cuh"
#include "gpu/spgemm/adaptive_rows/row_sums.cuh"

namespace csrkit::gpu {

/// The shared memory of one row: first its sources, then its products.
template <class Value, class S>
struct SortedRow {
  union {
    SourceList<Value, S> sources;
    struct {
      Value products[S::kMost];       // by number
      std::uint32_t keys[S::kKeys];   // sorted
      std::uint16_t heads[S::kMost];  // where each entry starts among the keys
    } sorted;
  };
  std::uint32_t scratch[S::kIsBlock ? 32 : 1];
};

/// Makes a row whose sources are listed in `space` (which may belong to a longer shape).
/// place(entries) returns where they go in C, or -1: they are dropped.
template <class S, class Value, class Space, class Place>
__device__ void make_listed(const MakeRows<Value>& op, Structure structure, const SortItem& item,
                            std::uint32_t products, Space& space, const Place& place) {
  const int rank = S::rank();
  const Value nothing = empty_sum<Value>(op.semiring);
  std::uint32_t keys[S::kItems];
  Value terms[S::kItems];
#pragma unroll
  for (int i = 0; i < S::kItems; ++i) {
    keys[i] = ~0u;
    terms[i] = Value{};
  }
  for_products<S>(space.sources, products, [&](int i, std::uint32_t number, std::uint32_t source) {
    const Offset position = space.sources.shifts[source] + number;
    keys[i] = static_cast<std::uint32_t>(__ldg(op.b.col_indices + position) - item.first_col)
                  << S::kLog2 |
              number;
    terms[i] =
        add_product(op.semiring, nothing, space.sources.values[source], value_of(op.b, position));
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
  constexpr std::uint32_t kNumber = S::kMost - 1;
  for (auto entry = static_cast<std::uint32_t>(rank); entry < total; entry += S::kLanes) {
    const int begin = sorted.heads[entry];
    const int end = entry + 1 < total ? sorted.heads[entry + 1] : static_cast<int>(products);
    const std::uint32_t key = sorted.keys[S::key_at(begin)];
    Value sum = sorted.products[key & kNumber];
    for (int next = begin + 1; next < end; ++next) {
      sum = add_sums(op.semiring, sum, sorted.products[sorted.keys[S::key_at(next)] & kNumber]);
    }
    if (structure == Structure::wanted) {
      op.c.col_indices[to + entry] = item.first_col + static_cast<Index>(key >> S::kLog2);
    }
    op.c.values[to + entry] = op.alpha * sum;
  }
}

template <class S, PartKind kPart, class Value>
__device__ void make_sorted(const MakeRows<Value>& op, Structure structure, const SortItem& item,
                            Offset to, SortedRow<Value, S>& space) {
  const std::uint32_t products =
      list_sources<S, kPart>(op.a, op.b, item, space.sources, space.scratch);
  make_listed<S>(op, structure, item, products, space, [to](std::uint32_t) { return to; });
}

}  // namespace csrkit::gpu

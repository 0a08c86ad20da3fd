// Sorting the products of one row of C in registers, by a sorting network. A key holds a product's
// column, counted from the row's first, in its upper bits, and its number in the order of A's
// columns below, so equal columns stay in that order.
#pragma once

#include <type_traits>

#include "gpu/spgemm/adaptive_rows/primitives/lane_networks.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/part_sources.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"

namespace csrkit::gpu {

/// The number of bits in which so many numbers, from 0 on, can be told apart.
__host__ __device__ constexpr int bits_of(int numbers) {
  return numbers <= 1 ? 0 : 1 + bits_of((numbers + 1) / 2);
}

/// The shape of a row: kLanes lanes of a warp, or a whole block, make at most kLanes * kItems
/// products.
template <int kLanes_, int kItems_>
struct SortShape {
  static constexpr int kLanes = kLanes_, kItems = kItems_;
  static constexpr int kMost = kLanes * kItems;
  static constexpr int kNumberBits = bits_of(kMost);
  static constexpr std::uint32_t kNumberMask = (1u << kNumberBits) - 1;
  static constexpr int kWords = (kMost + 31) / 32;
  static constexpr bool kIsBlock = kLanes > 32;
  static constexpr int kThreads = kIsBlock ? kLanes : 128;
  static constexpr bool kIsPadded = kItems % 4 == 0;
  static constexpr int kKeys = kMost + (kIsPadded ? kLanes : 0);

  static __device__ int rank() { return static_cast<int>(threadIdx.x) & (kLanes - 1); }
  static __device__ int slot() { return static_cast<int>(threadIdx.x) / kLanes; }
  /// The place of a position's key in shared memory, padded so that lanes, which hold kItems
  /// neighbours each, use different banks. Six or ten keys need no division: two lanes a bank.
  static __device__ int key_at(int position) {
    return kIsPadded ? position + position / kItems : position;
  }
  static __device__ void sync() {
    if constexpr (kIsBlock) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
  static __device__ bool any(bool condition) {
    if constexpr (kIsBlock) return condition;  // uniform in a block
    return __any_sync(kAllLanes, condition);
  }
  /// The sum over lower ranks; `total`: over all. Only blocks use `scratch`.
  static __device__ std::uint32_t exclusive_sum(std::uint32_t value, std::uint32_t& total,
                                                std::uint32_t* scratch) {
    if constexpr (kIsBlock) {
      return Group<kLanes>::exclusive_sum(value, total, scratch);
    } else {
      std::uint32_t sum = value;
#pragma unroll
      for (int distance = 1; distance < kLanes; distance *= 2) {
        const std::uint32_t other = __shfl_up_sync(kAllLanes, sum, distance, kLanes);
        if (rank() >= distance) sum += other;
      }
      total = __shfl_sync(kAllLanes, sum, kLanes - 1, kLanes);
      return sum - value;
    }
  }
};

struct NoValue {};

/// The non-empty rows of B of one row of C, in shared memory.
template <class Value, class S, bool kHasPlaces = false>
struct SourceList {
  // A's value of each source
  Value values[std::is_same_v<Value, NoValue> ? 1 : S::kMost];
  // of each source: add it to a product's number to get the place in B
  Offset shifts[S::kMost];
  std::uint32_t starts[S::kWords];  // a bit for every product, set if it is the first of its source
  std::uint32_t before[S::kWords];  // number of sources that start in lower words
  // if kHasPlaces, of each source: its place in the row of A
  std::uint32_t places[kHasPlaces ? S::kMost : 1];
};

/// The row, or the part of its columns, that a group makes.
struct SortItem {
  bool is_there;
  Index row;
  Index first_col;
  Offset last_col;  // exclusive; only of parts
};

/// Fills the list of sources; returns the number of products. By all lanes of the warp.
template <class S, PartKind kPart, class Element, class Value, bool kHasPlaces>
__device__ std::uint32_t list_sources(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                                      const SortItem& item,
                                      SourceList<Element, S, kHasPlaces>& list,
                                      std::uint32_t* scratch) {
  const int rank = S::rank();
  for (int i = rank; i < S::kWords; i += S::kLanes) list.starts[i] = 0;
  S::sync();
  std::uint32_t before = 0;  // two sums in one: sources in the upper half, products in the lower
  const Offset end = item.is_there ? a.row_end(item.row) : 0;
  const Offset begin = item.is_there ? a.row_begin(item.row) : 0;
  Offset at = begin + rank;
  if constexpr (kPart == PartKind::one_of_few) {
    // As below, but kSourcesAtOnce neighbours per lane.
    const bool has_many = end - (at - rank) > kManySources;
    for (Offset batch = at - rank; has_many && batch < end; batch += S::kLanes * kSourcesAtOnce) {
      const Offset mine_at = batch + rank * kSourcesAtOnce;
      Offset first[kSourcesAtOnce];
      std::uint32_t length[kSourcesAtOnce];
      find_in_part(a, b, mine_at, 1, end, {Offset{item.first_col}, item.last_col}, first, length);
      std::uint32_t of_lane = 0, total = 0;
#pragma unroll
      for (int u = 0; u < kSourcesAtOnce; ++u) {
        of_lane += length[u] > 0 ? (1u << 16) + length[u] : 0u;
      }
      std::uint32_t mine = before + S::exclusive_sum(of_lane, total, scratch);
#pragma unroll
      for (int u = 0; u < kSourcesAtOnce; ++u) {
        if (length[u] == 0) continue;
        const std::uint32_t start = mine & 0xffffu;
        list.shifts[mine >> 16] = first[u] - start;
        if constexpr (!std::is_same_v<Element, NoValue>) {
          list.values[mine >> 16] = value_of(a, mine_at + u);
        }
        atomicOr(&list.starts[start >> 5], 1u << (start & 31));
        mine += (1u << 16) + length[u];
      }
      before += total;
    }
    if (has_many) at = end + rank;
  }
  while (S::any(at - rank < end)) {
    Offset first = 0;
    std::uint32_t length = 0;
    if (at < end) {
      const Index source = __ldg(a.col_indices + at);
      first = b.row_begin(source);
      Offset last = b.row_end(source);
      if constexpr (kPart != PartKind::whole_row) {
        first = lower_bound(b.col_indices, first, last, Offset{item.first_col});
        last = lower_bound(b.col_indices, first, last, item.last_col);
      }
      length = static_cast<std::uint32_t>(last - first);
    }
    std::uint32_t total = 0;
    const std::uint32_t mine =
        before + S::exclusive_sum(length > 0 ? (1u << 16) + length : 0u, total, scratch);
    if (length > 0) {
      const std::uint32_t start = mine & 0xffffu;
      list.shifts[mine >> 16] = first - start;
      if constexpr (!std::is_same_v<Element, NoValue>) list.values[mine >> 16] = value_of(a, at);
      if constexpr (kHasPlaces) list.places[mine >> 16] = static_cast<std::uint32_t>(at - begin);
      atomicOr(&list.starts[start >> 5], 1u << (start & 31));
    }
    before += total;
    at += S::kLanes;
  }
  S::sync();
  if constexpr (S::kIsBlock) {
    static_assert(S::kWords <= S::kLanes, "a lane per word");
    const std::uint32_t mine =
        rank < S::kWords ? static_cast<std::uint32_t>(__popc(list.starts[rank])) : 0u;
    std::uint32_t total = 0;
    const std::uint32_t sum = S::exclusive_sum(mine, total, scratch);
    if (rank < S::kWords) list.before[rank] = sum;
    S::sync();
  }
  return before & 0xffffu;
}

/// Calls take(i, number, source) for the lane's products. They are kLanes apart, so that
/// neighbouring lanes read neighbours.
template <class S, class List, class Take>
__device__ void for_products(const List& list, std::uint32_t products, const Take& take) {
  const int rank = S::rank();
  std::uint32_t before = 0;
#pragma unroll
  for (int i = 0; i < S::kItems; ++i) {
    const auto number = static_cast<std::uint32_t>(i * S::kLanes + rank);
    const std::uint32_t word = S::kIsBlock ? number >> 5 : i * S::kLanes / 32;
    const std::uint32_t bits = list.starts[word];
    if constexpr (S::kIsBlock) before = list.before[word];
    const std::uint32_t up_to_here = bits << (31 - (number & 31));
    const auto source = before + static_cast<std::uint32_t>(__popc(up_to_here)) - 1;
    if (number < products) take(i, number, source);
    if ((i + 1) * S::kLanes % 32 == 0) before += static_cast<std::uint32_t>(__popc(bits));
  }
}

/// The key of lane `rank ^ distance` at i or, mirrored, at kItems - 1 - i. Exchanged through
/// `buffer` if that lane is in another warp.
template <class S, bool kIsMirrored>
__device__ void exchange_keys(const std::uint32_t (&keys)[S::kItems],
                              std::uint32_t (&others)[S::kItems], int distance,
                              std::uint32_t* buffer) {
  const int rank = S::rank();
  if (S::kIsBlock && distance >= 32) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < S::kItems; ++i) buffer[i * S::kLanes + rank] = keys[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < S::kItems; ++i) {
      const int from = kIsMirrored ? S::kItems - 1 - i : i;
      others[i] = buffer[from * S::kLanes + (rank ^ distance)];
    }
  } else {
#pragma unroll
    for (int i = 0; i < S::kItems; ++i) {
      others[i] = __shfl_xor_sync(kAllLanes, keys[kIsMirrored ? S::kItems - 1 - i : i], distance);
    }
  }
}

template <class S>
__device__ void keep_keys(std::uint32_t (&keys)[S::kItems],
                          const std::uint32_t (&others)[S::kItems], bool is_low) {
#pragma unroll
  for (int i = 0; i < S::kItems; ++i) {
    keys[i] = is_low ? min(keys[i], others[i]) : max(keys[i], others[i]);
  }
}

/// Sorts ascending by position. Lane `rank` holds the positions from rank * kItems on.
template <class S>
__device__ void sort_keys(std::uint32_t (&keys)[S::kItems], std::uint32_t* buffer) {
  const int rank = S::rank();
  sort_in_thread(keys);
#pragma unroll
  for (int lanes = 2; lanes <= S::kLanes; lanes *= 2) {
    // With the upper half mirrored, two ascending runs go up and then down.
    std::uint32_t others[S::kItems];
    exchange_keys<S, true>(keys, others, lanes - 1, buffer);
    keep_keys<S>(keys, others, (rank & (lanes / 2)) == 0);
#pragma unroll
    for (int distance = lanes / 4; distance > 0; distance /= 2) {
      exchange_keys<S, false>(keys, others, distance, buffer);
      keep_keys<S>(keys, others, (rank & distance) == 0);
    }
    merge_in_thread(keys);
  }
}

/// A shape; Whole is the one whose space the row has in shared memory: rows of a block need not
/// have the same shape.
template <class S, class Whole>
struct ShapeTag {
  using Shape = S;

  template <template <class> class Space>
  static __device__ Space<S>& space(std::byte* bytes) {
    static_assert(sizeof(Space<S>) <= sizeof(Space<Whole>));
    return *reinterpret_cast<Space<S>*>(bytes + sizeof(Space<Whole>) * S::slot());
  }
};

template <class S>
using OwnShape = ShapeTag<S, S>;

/// Calls work(tag) with the shape that has S's lanes and the fewest keys a lane that `products`
/// fit: five or six eighths of S's, or all. All lanes of a warp have the same `products`.
template <class S, class Work>
__device__ void with_fewest_items(std::uint32_t products, const Work& work) {
  if constexpr (S::kItems % 8 == 0) {
    using Five = SortShape<S::kLanes, S::kItems / 8 * 5>;
    using Six = SortShape<S::kLanes, S::kItems / 8 * 6>;
    if (products <= Five::kMost) return work(ShapeTag<Five, S>{});
    if (products <= Six::kMost) return work(ShapeTag<Six, S>{});
  }
  work(OwnShape<S>{});
}

/// Bit i is set if the lane's i-th key is the first of its column (a head). Also stores the sorted
/// keys in `sorted` for other lanes. `before`: heads in lower lanes.
template <class S>
__device__ unsigned find_heads(const std::uint32_t (&keys)[S::kItems], std::uint32_t products,
                               std::uint32_t* sorted, std::uint32_t* scratch, std::uint32_t& before,
                               std::uint32_t& total) {
  const int rank = S::rank();
  std::uint32_t previous = 0;
  if constexpr (S::kIsBlock) {
    previous = rank > 0 ? sorted[S::key_at(rank * S::kItems - 1)] : 0;
  } else {
    previous = __shfl_up_sync(kAllLanes, keys[S::kItems - 1], 1, S::kLanes);
  }
  unsigned heads = 0;
#pragma unroll
  for (int i = 0; i < S::kItems; ++i) {
    const bool is_new =
        (i == 0 && rank == 0) || keys[i] >> S::kNumberBits != previous >> S::kNumberBits;
    if (is_new && static_cast<std::uint32_t>(rank * S::kItems + i) < products) heads |= 1u << i;
    previous = keys[i];
  }
  before = S::exclusive_sum(static_cast<std::uint32_t>(__popc(heads)), total, scratch);
  return heads;
}

template <class S>
__device__ void show_keys(const std::uint32_t (&keys)[S::kItems], std::uint32_t* sorted) {
#pragma unroll
  for (int i = 0; i < S::kItems; ++i) sorted[S::key_at(S::rank() * S::kItems + i)] = keys[i];
}

}  // namespace csrkit::gpu

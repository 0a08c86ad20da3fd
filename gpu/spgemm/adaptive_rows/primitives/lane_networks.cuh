// Sorting and merging networks over the keys of one thread, in registers. Comparisons are template
// arguments: with loops over indices the compiler would not keep the keys in registers.
// Sources: Batcher 1968 (odd-even merge sort, bitonic merging), for any number of keys
#pragma once

#include <cstdint>
#include <utility>

namespace csrkit::gpu {

/// The comparisons of a network, in order: each puts the smaller of two keys first.
template <int kItems>
struct Network {
  int count = 0;
  int low[kItems * kItems] = {}, high[kItems * kItems] = {};

  constexpr void compare(int first, int second) {
    low[count] = first;
    high[count++] = second;
  }
  /// Sorts `items` keys from `begin` on.
  constexpr void sort(int begin, int items) {
    for (int size = 1; size < items; size *= 2) {
      for (int apart = size; apart > 0; apart /= 2) {
        for (int first = apart % size; first + apart < items; first += 2 * apart) {
          for (int i = first; i < first + apart && i + apart < items; ++i) {
            if (i / (2 * size) == (i + apart) / (2 * size)) compare(begin + i, begin + i + apart);
          }
        }
      }
    }
  }
  /// Sorts keys that go up and then down, or are such a sequence turned round. An odd number of
  /// keys has no halves to compare, so it is sorted.
  constexpr void merge(int begin, int items) {
    if (items % 2 == 1) return sort(begin, items);
    const int half = items / 2;
    for (int i = begin; i < begin + half; ++i) compare(i, i + half);
    if (half > 1) merge(begin, half);
    if (half > 1) merge(begin + half, half);
  }
};

template <int kItems>
constexpr Network<kItems> make_sorting_network() {
  Network<kItems> network;
  network.sort(0, kItems);
  return network;
}
template <int kItems>
constexpr Network<kItems> make_merging_network() {
  Network<kItems> network;
  network.merge(0, kItems);
  return network;
}
template <int kItems>
inline constexpr Network<kItems> kSortingNetwork = make_sorting_network<kItems>();
template <int kItems>
inline constexpr Network<kItems> kMergingNetwork = make_merging_network<kItems>();

template <int kLow, int kHigh, int kItems>
__device__ void compare(std::uint32_t (&keys)[kItems]) {
  const std::uint32_t low = min(keys[kLow], keys[kHigh]);
  keys[kHigh] = max(keys[kLow], keys[kHigh]);
  keys[kLow] = low;
}
template <const auto& kNetwork, int kItems, int... kAt>
__device__ void run_network(std::uint32_t (&keys)[kItems], std::integer_sequence<int, kAt...>) {
  (compare<kNetwork.low[kAt], kNetwork.high[kAt]>(keys), ...);
}

/// Sorts the thread's keys ascending.
template <int kItems>
__device__ void sort_in_thread(std::uint32_t (&keys)[kItems]) {
  constexpr int kCount = kSortingNetwork<kItems>.count;
  run_network<kSortingNetwork<kItems>>(keys, std::make_integer_sequence<int, kCount>{});
}
/// The same for keys that go up and then down, or such a sequence turned round.
template <int kItems>
__device__ void merge_in_thread(std::uint32_t (&keys)[kItems]) {
  constexpr int kCount = kMergingNetwork<kItems>.count;
  run_network<kMergingNetwork<kItems>>(keys, std::make_integer_sequence<int, kCount>{});
}

}  // namespace csrkit::gpu

// Sums of weights by group, for one vertex at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/types.h"

namespace csrkit::reorder {

/// Sums by group, in the order in which groups are first met. As long as a place for every group
/// fits a core's cache, sums are kept there, without a branch; otherwise by open addressing.
class GroupSums {
 public:
  /// Groups are numbered below `groups`.
  explicit GroupSums(Index groups) {
    constexpr Index kMostPlaces = 1 << 16;
    if (groups <= kMostPlaces) places_.assign(static_cast<std::size_t>(groups), 0);
  }

  /// Starts the next vertex, which has at most `most` neighbouring groups.
  void start(Offset most) {
    count_ = 0;
    if (!places_.empty()) {
      // One more: `add` writes there before it knows whether the group counts.
      if (static_cast<std::size_t>(most) >= used_.size()) {
        used_.resize(static_cast<std::size_t>(most) + 1);
      }
      return;
    }
    int bits = 4;
    while ((Offset{1} << bits) < 2 * most) ++bits;
    const std::size_t size = std::size_t{1} << bits;
    if (size > slots_.size()) {
      slots_.assign(size, Slot{-1, 0});
      used_.resize(size);
    }
    shift_ = 32 - bits;
    mask_ = static_cast<std::uint32_t>(size - 1);
  }

  /// `weight` is not 0.
  void add(Index group, Offset weight) {
    if (!places_.empty()) {
      Offset& sum = places_[static_cast<std::size_t>(group)];
      used_[count_] = static_cast<std::uint32_t>(group);
      count_ += sum == 0;
      sum += weight;
      return;
    }
    std::uint32_t at = home_of(group);
    while (slots_[at].group != group) {
      if (slots_[at].group < 0) {
        slots_[at] = {group, 0};
        used_[count_++] = at;
        break;
      }
      at = (at + 1) & mask_;
    }
    slots_[at].weight += weight;
  }

  Offset weight_of(Index group) const {
    if (!places_.empty()) return places_[static_cast<std::size_t>(group)];
    std::uint32_t at = home_of(group);
    while (slots_[at].group != group) {
      if (slots_[at].group < 0) return 0;
      at = (at + 1) & mask_;
    }
    return slots_[at].weight;
  }

  /// Hands out all sums and clears them.
  template <class Take>
  void drain(Take&& take) {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint32_t at = used_[i];
      if (!places_.empty()) {
        take(static_cast<Index>(at), places_[at]);
        places_[at] = 0;
      } else {
        take(slots_[at].group, slots_[at].weight);
        slots_[at].group = -1;
      }
    }
    count_ = 0;
  }

 private:
  struct Slot {
    Index group;
    Offset weight;
  };

  std::uint32_t home_of(Index group) const {
    return static_cast<std::uint32_t>(group) * 2654435769u >> shift_;
  }

  std::vector<Offset> places_;  // by group; empty: slots_ are used
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> used_;  // groups, or where their slots are
  std::size_t count_ = 0;
  int shift_ = 0;
  std::uint32_t mask_ = 0;
};

/// sums[i] becomes the total weight of all elements in the same group as i. `groups` and `weights`
/// have room for kWidth elements. Null weights count 1 each.
template <int kWidth>
void sum_equals(Index* groups, Index* weights, Index count, Index* sums) {
  std::fill(groups + count, groups + kWidth, Index{-1});
  if (weights == nullptr) {
    for (Index i = 0; i < count; ++i) {
      Index sum = 0;
      for (int j = 0; j < kWidth; ++j) sum += groups[j] == groups[i];
      sums[i] = sum;
    }
    return;
  }
  std::fill(weights + count, weights + kWidth, Index{0});
  for (Index i = 0; i < count; ++i) {
    Index sum = 0;
    for (int j = 0; j < kWidth; ++j) sum += -Index{groups[j] == groups[i]} & weights[j];
    sums[i] = sum;
  }
}

}  // namespace csrkit::reorder

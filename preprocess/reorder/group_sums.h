// Sums of weights by group, for one vertex at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/types.h"

namespace csrkit::reorder {

/// Sums by group in the order in which groups are first met; open addressing.
class GroupSums {
 public:
  void start(Offset most) {
    int bits = 4;
    while ((Offset{1} << bits) < 2 * most) ++bits;
    const std::size_t size = std::size_t{1} << bits;
    if (size > slots_.size()) slots_.assign(size, Slot{-1, 0});
    shift_ = 32 - bits;
    mask_ = static_cast<std::uint32_t>(size - 1);
  }
  void add(Index group, Offset weight) {
    std::uint32_t at = static_cast<std::uint32_t>(group) * 2654435769u >> shift_;
    while (slots_[at].group != group) {
      if (slots_[at].group < 0) {
        slots_[at] = {group, 0};
        used_.push_back(at);
        break;
      }
      at = (at + 1) & mask_;
    }
    slots_[at].weight += weight;
  }
  Offset weight_of(Index group) const {
    std::uint32_t at = static_cast<std::uint32_t>(group) * 2654435769u >> shift_;
    while (slots_[at].group != group) {
      if (slots_[at].group < 0) return 0;
      at = (at + 1) & mask_;
    }
    return slots_[at].weight;
  }
  template <class Take>
  void drain(Take&& take) {
    for (const std::uint32_t at : used_) {
      take(slots_[at].group, slots_[at].weight);
      slots_[at].group = -1;
    }
    used_.clear();
  }

 private:
  struct Slot {
    Index group;
    Offset weight;
  };
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> used_;
  int shift_ = 0;
  std::uint32_t mask_ = 0;
};

/// sums[i]: the weights of all that are in the same group as i. `groups` and `weights` have room for
/// kWidth; no weights: 1 each.
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

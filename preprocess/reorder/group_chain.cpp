#include "preprocess/reorder/group_chain.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace csrkit::reorder {

namespace {

// Up to so many vertices, looking at all that are left is faster than a heap that learns of every
// edge.
constexpr std::size_t kFew = 256;

}  // namespace

void GroupChain::clear() {
  begin_.clear();
  edges_.clear();
  volume_.clear();
}

void GroupChain::add_vertex(Offset volume) {
  begin_.push_back(edges_.size());
  volume_.push_back(volume);
}

const std::vector<Index>& GroupChain::order() {
  const std::size_t count = volume_.size();
  begin_.push_back(edges_.size());
  strength_.assign(count, 0.0);
  is_placed_.assign(count, 0);
  order_.clear();
  starts_.resize(count);
  std::iota(starts_.begin(), starts_.end(), Index{0});
  if (count < 3) {
    order_ = starts_;
    return order_;
  }
  std::sort(starts_.begin(), starts_.end(), [&](Index a, Index b) {
    const Offset x = volume_[static_cast<std::size_t>(a)], y = volume_[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  });
  if (count <= kFew) {
    order_few();
  } else {
    order_many();
  }
  return order_;
}

void GroupChain::order_few() {
  std::vector<Index>& left = starts_;
  while (!left.empty()) {
    std::size_t best = 0;  // without an edge to anything placed: the largest
    double highest = strength_[static_cast<std::size_t>(left[0])];
    for (std::size_t i = 1; i < left.size(); ++i) {
      const double strength = strength_[static_cast<std::size_t>(left[i])];
      if (strength > highest || (strength == highest && strength > 0 && left[i] < left[best])) {
        best = i;
        highest = strength;
      }
    }
    const Index v = left[best];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
    place(v, [](Index) {});
  }
}

void GroupChain::order_many() {
  std::priority_queue<std::pair<double, Index>> next;  // strength, -vertex
  for (const Index start : starts_) {
    if (is_placed_[static_cast<std::size_t>(start)] != 0) continue;
    next.emplace(0, -start);
    while (!next.empty()) {
      const Index v = -next.top().second;
      next.pop();
      if (is_placed_[static_cast<std::size_t>(v)] != 0) continue;
      place(v, [&](Index u) { next.emplace(strength_[static_cast<std::size_t>(u)], -u); });
    }
  }
}

template <class Changed>
void GroupChain::place(Index v, Changed&& changed) {
  const auto at = static_cast<std::size_t>(v);
  is_placed_[at] = 1;
  order_.push_back(v);
  for (std::size_t e = begin_[at]; e < begin_[at + 1]; ++e) {
    const auto u = static_cast<std::size_t>(edges_[e].to);
    if (is_placed_[u] != 0) continue;
    strength_[u] += static_cast<double>(edges_[e].weight) /
                    static_cast<double>(std::max<Offset>(1, volume_[u]));
    changed(edges_[e].to);
  }
}

}  // namespace csrkit::reorder

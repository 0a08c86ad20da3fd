#include "preprocess/reorder/community/group_chain.h"

#include <algorithm>
#include <numeric>

namespace csrkit::reorder {

namespace {

// Up to this many vertices, a scan of all that are left is faster than a heap that is updated for
// every edge.
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

/// A binary heap of the vertices next to a placed one. It knows the position of each of them, so an
/// update costs a step or two.
class GroupChain::Heap {
 public:
  Heap(std::size_t count, const std::vector<double>& strength)
      : strength_(strength), at_(count, kNowhere) {}

  bool is_empty() const { return heap_.empty(); }

  void rise(Index v) {
    std::size_t at = at_[static_cast<std::size_t>(v)];
    if (at == kNowhere) {
      at = heap_.size();
      heap_.push_back(v);
    }
    for (; at > 0 && comes_first(v, heap_[(at - 1) / 2]); at = (at - 1) / 2) {
      put(heap_[(at - 1) / 2], at);
    }
    put(v, at);
  }

  Index pop() {
    const Index first = heap_.front(), moved = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return first;
    std::size_t at = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && comes_first(heap_[child + 1], heap_[child])) ++child;
      if (!comes_first(heap_[child], moved)) break;
      put(heap_[child], at);
      at = child;
    }
    put(moved, at);
    return first;
  }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  bool comes_first(Index a, Index b) const {
    const double x = strength_[static_cast<std::size_t>(a)];
    const double y = strength_[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  }
  void put(Index v, std::size_t at) {
    heap_[at] = v;
    at_[static_cast<std::size_t>(v)] = at;
  }

  const std::vector<double>& strength_;
  std::vector<std::size_t> at_;
  std::vector<Index> heap_;
};

void GroupChain::order_many() {
  Heap next(volume_.size(), strength_);
  for (const Index start : starts_) {
    if (is_placed_[static_cast<std::size_t>(start)] != 0) continue;
    place(start, [&](Index u) { next.rise(u); });
    while (!next.is_empty()) {
      place(next.pop(), [&](Index u) { next.rise(u); });
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

// The order of the members of a group, from the edges between them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/types.h"

namespace csrkit::reorder {

/// Orders vertices so that each is well connected to those before it (Prim's walk). The next vertex
/// has the heaviest edges to the placed ones, relative to its volume; without that, hubs would
/// always come next. A walk starts at the largest volume that is left; ties go to the lower number.
/// An object serves any number of groups, one after the other.
class GroupChain {
 public:
  /// Vertices are numbered 0, 1, ... as they are added; the edges of one have to be added before
  /// the next vertex. Every edge comes twice, once from either end.
  void clear();
  void add_vertex(Offset volume);
  void add_edge(Index to, std::uint32_t weight) { edges_.push_back({to, weight}); }

  /// The vertices in their new order.
  const std::vector<Index>& order();

 private:
  struct Edge {
    Index to;
    std::uint32_t weight;
  };

  class Heap;

  void order_few();
  void order_many();
  template <class Changed>
  void place(Index v, Changed&& changed);

  std::vector<std::size_t> begin_;
  std::vector<Edge> edges_;
  std::vector<Offset> volume_;
  std::vector<double> strength_;
  std::vector<std::uint8_t> is_placed_;
  std::vector<Index> starts_, order_;
};

}  // namespace csrkit::reorder

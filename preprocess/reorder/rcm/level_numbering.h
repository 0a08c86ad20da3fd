// Vertices of a component level by level, numbered as Cuthill and McKee do.
#pragma once

#include <cstdint>
#include <limits>

#include "preprocess/reorder/adjacency.h"
#include "preprocess/reorder/rcm/team_price.h"

namespace csrkit::reorder {

/// The Cuthill-McKee numbering, which is a breadth-first search: each vertex's new neighbours by
/// ascending degree (Cuthill, McKee, Proc. 24th Nat. Conf. ACM, 1969). A component is numbered many
/// times, so the vertices must be named by degree already (RankedGraph): then neighbours are listed
/// in the right order, and nothing is sorted.
///
/// Wide levels are divided among threads, where that has paid so far. A vertex of the next level
/// needs only the lowest place among its neighbours in this level: sorted by (that place, number),
/// the level equals that of the serial algorithm (Karantasis, Lenharth, Nguyen, Garzaran, Pingali,
/// Parallelization of reordering algorithms for bandwidth and wavefront reduction, SC 2014).
class LevelNumbering {
 public:
  explicit LevelNumbering(const Adjacency& graph);

  static constexpr Index kTooWide = std::numeric_limits<Index>::max();

  bool is_numbered(Index v) const { return parent_[v] != kUntouched; }
  /// How many vertices have their final numbers: those at the places [0, done).
  Index done() const { return done_; }
  /// The vertices by their places.
  const Index* places() const { return order_.data(); }

  struct Levels {
    Index count;      // of levels
    Index farthest;   // the vertex of lowest number in the last one
    Index size;       // of the component
    Index bandwidth;  // or kTooWide; then the rest says nothing
  };
  /// Numbers the component of `root` at the places from done() on, until the next call. The
  /// bandwidth is the largest distance of a vertex from the one that discovered it: no neighbour
  /// comes before that. Stops with kTooWide where it exceeds `limit`. Nothing is done() by it.
  Levels number(Index root, Index limit = kTooWide - 1);

  /// Gives these vertices of a component their final numbers, in this order, at the places from
  /// done() on.
  void keep(const Buffer<Index>& component, Index size);

  /// The vertices by their places, once all are numbered.
  Buffer<Index> take_order() {
    order_.truncate(graph_.vertices);
    return std::move(order_);
  }

 private:
  // What parent_ holds beside places, which are below 2^31. A root needs no place: it is only ever
  // compared with places of its own component, all of which come after it.
  static constexpr std::uint32_t kUntouched = ~std::uint32_t{0};
  static constexpr std::uint32_t kDone = kUntouched - 1;

  struct Discovery;
  template <class Take>
  void for_neighbours(Index v, Take&& take) const;
  template <class Collect, class Settle>
  Index append(Index begin, Index end, Index& bandwidth, Collect&& collect, Settle&& settle);
  Index next_level(Index begin, Index end, Index limit, Index& bandwidth);
  Index numbered(Index begin, Index end, Index limit, Index& bandwidth);
  Index numbered_wide(Index begin, Index end, Index& bandwidth);
  void forget(Index end);

  const Adjacency& graph_;
  Buffer<Index> order_;           // and room for one that turns out to be known
  Buffer<std::uint32_t> parent_;  // the place of the vertex that numbered it
  Index done_ = 0;
  double mean_degree_;
  TeamPrice price_;
};

}  // namespace csrkit::reorder

// Weighted graphs that are merged level by level, for the ordering community.
#pragma once

#include <cstdint>

#include "core/base/fetch.h"
#include "preprocess/reorder/adjacency.h"

namespace csrkit::reorder {

/// An undirected graph with integer weights. Edges inside a merged vertex are not listed, but count
/// in its volume.
struct WeightedGraph {
  Index vertices = 0;
  Buffer<Offset> offsets;         // vertices + 1
  Buffer<Index> neighbours;       // unique per vertex, never itself
  Buffer<std::uint32_t> weights;  // empty: every edge weighs 1
  Buffer<Offset> volume;          // weight of all edges at the vertex, merged ones twice
  Offset total = 0;               // sum of the volumes

  Offset weight(Offset at) const { return weights.size() == 0 ? 1 : weights[at]; }
};

WeightedGraph weighted(Adjacency graph);

/// The group of every vertex: groups are numbered from 0.
struct Groups {
  Index count = 0;
  Buffer<Index> of_vertex;
};

/// Prefetches the groups of a vertex's neighbours. They lie anywhere in memory; prefetched, their
/// cache misses overlap.
inline void fetch_around(const WeightedGraph& graph, const Buffer<Index>& group, Index v) {
  for (Offset at = graph.offsets[v]; at < graph.offsets[v + 1]; ++at) {
    fetch(&group[graph.neighbours[at]]);
  }
}

/// Moves vertices to the neighbouring group with the largest gain in modularity, until few move.
/// Returns the group of every vertex; groups are named after one of their vertices. The result is
/// the same for any thread count.
Buffer<Index> move_to_groups(const WeightedGraph& graph);

/// The same, groups numbered.
Groups find_groups(const WeightedGraph& graph);

/// Members of every group, ascending: those of group g are [begin[g], begin[g + 1]).
struct Members {
  Buffer<Index> begin;  // groups + 1
  Buffer<Index> vertex;
};
Members members_of(const Groups& groups);

/// The order of a group's members: ascending, or by a GroupChain.
enum class Inside : std::uint8_t { as_numbered, chained };

/// Makes a vertex of every group. In the same pass over its edges, the group's members are ordered.
WeightedGraph merge_groups(const WeightedGraph& graph, const Groups& groups, Inside inside,
                           Members* members);

}  // namespace csrkit::reorder

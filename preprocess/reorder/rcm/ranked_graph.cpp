#include "preprocess/reorder/rcm/ranked_graph.h"

#include <algorithm>

#include "core/base/huge_pages.h"

namespace csrkit::reorder {

namespace {

Buffer<Index> vertices_by_degree(const Adjacency& graph) {
  const Index n = graph.vertices;
  Buffer<Index> next(Offset{n} + 1), vertices(n);
  std::fill(next.begin(), next.end(), Index{0});
  for (Index v = 0; v < n; ++v) ++next[Offset{graph.degree(v)} + 1];
  for (Index degree = 0; degree < n; ++degree) next[Offset{degree} + 1] += next[degree];
  for (Index v = 0; v < n; ++v) vertices[next[graph.degree(v)]++] = v;
  return vertices;
}

}  // namespace

RankedGraph ranked_by_degree(const Adjacency& graph) {
  const Index n = graph.vertices;
  RankedGraph ranked{vertices_by_degree(graph), Buffer<Index>(n), Adjacency()};
  ranked.graph.vertices = n;
  ranked.graph.offsets = Buffer<Offset>(Offset{n} + 1);
  ranked.graph.neighbours = Buffer<Index>(graph.entries());
  advise_huge_pages(ranked.graph.neighbours.data(), ranked.graph.neighbours.size_bytes());
  Buffer<Offset> next(n);
  ranked.graph.offsets[0] = 0;
  for (Index rank = 0; rank < n; ++rank) {
    const Index v = ranked.vertex_of_rank[rank];
    ranked.rank_of_vertex[v] = rank;
    next[rank] = ranked.graph.offsets[rank];
    ranked.graph.offsets[Offset{rank} + 1] = next[rank] + graph.degree(v);
  }
  // Rank by rank, so that every list ascends.
  for (Index rank = 0; rank < n; ++rank) {
    const Index v = ranked.vertex_of_rank[rank];
    for (Offset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const Index u = ranked.rank_of_vertex[graph.neighbours[e]];
      ranked.graph.neighbours[next[u]++] = rank;
    }
  }
  return ranked;
}

}  // namespace csrkit::reorder

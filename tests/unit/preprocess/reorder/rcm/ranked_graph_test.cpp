#include "preprocess/reorder/rcm/ranked_graph.h"

#include <gtest/gtest.h>

#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit::reorder {
namespace {

TEST(RankedGraph, IsTheSameGraphUnderOtherNames) {
  for (const CsrMatrix& matrix : {test::grid(5, 7), test::star(9), test::power_law(300, 900, 4),
                                  test::pattern_of(3, 3, {}), test::pattern_of(0, 0, {})}) {
    const Adjacency graph = build_adjacency(matrix);
    const RankedGraph ranked = ranked_by_degree(graph);
    ASSERT_EQ(ranked.graph.entries(), graph.entries());
    for (Index rank = 0; rank < graph.vertices; ++rank) {
      const Index v = ranked.vertex_of_rank[rank];
      ASSERT_EQ(ranked.rank_of_vertex[v], rank);
      if (rank > 0) {
        const Index before = ranked.vertex_of_rank[rank - 1];
        ASSERT_LE(graph.degree(before), graph.degree(v));
        if (graph.degree(before) == graph.degree(v)) {
          ASSERT_LT(before, v);
        }
      }
      const Index* first = ranked.graph.neighbours.data() + ranked.graph.offsets[rank];
      const Index* last = ranked.graph.neighbours.data() + ranked.graph.offsets[rank + 1];
      ASSERT_TRUE(std::is_sorted(first, last));
      std::set<Index> renamed, expected;
      for (const Index* u = first; u != last; ++u) renamed.insert(ranked.vertex_of_rank[*u]);
      for (Offset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        expected.insert(graph.neighbours[e]);
      }
      ASSERT_EQ(renamed, expected);
    }
  }
}

}  // namespace
}  // namespace csrkit::reorder

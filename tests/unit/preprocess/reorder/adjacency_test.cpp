#include "preprocess/reorder/adjacency.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>

#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit::reorder {
namespace {

using test::pattern_of;

std::vector<Index> neighbours_of(const Adjacency& graph, Index v) {
  return {graph.neighbours.data() + graph.offsets[v],
          graph.neighbours.data() + graph.offsets[v + 1]};
}

TEST(Adjacency, MirrorsDropsLoopsAndKeepsEachEdgeOnce) {
  // 0 -> 1, 1 -> 0 (both directions stored), 2 -> 0 (one direction), loops at 1 and 3.
  const Adjacency graph =
      build_adjacency(pattern_of(4, 4, {{0, 1}, {1, 0}, {2, 0}, {1, 1}, {3, 3}}));
  EXPECT_EQ(neighbours_of(graph, 0), (std::vector<Index>{1, 2}));
  EXPECT_EQ(neighbours_of(graph, 1), (std::vector<Index>{0}));
  EXPECT_EQ(neighbours_of(graph, 2), (std::vector<Index>{0}));
  EXPECT_EQ(neighbours_of(graph, 3), (std::vector<Index>{}));
  EXPECT_EQ(graph.entries(), 4);
}

TEST(Adjacency, HoldsItsInvariantsOnEveryShape) {
  for (const auto& [name, matrix] : test::square_battery()) {
    SCOPED_TRACE(name);
    const Adjacency graph = build_adjacency(matrix);
    ASSERT_EQ(graph.vertices, matrix.rows());
    std::set<std::pair<Index, Index>> edges, wanted;
    for (Index v = 0; v < graph.vertices; ++v) {
      Index previous = -1;
      for (const Index neighbour : neighbours_of(graph, v)) {
        EXPECT_GT(neighbour, previous);
        previous = neighbour;
        edges.emplace(v, neighbour);
      }
      for (Offset at = matrix.row_offsets()[v]; at < matrix.row_offsets()[v + 1]; ++at) {
        const Index col = matrix.col_indices()[at];
        if (col == v) continue;
        wanted.emplace(v, col);
        wanted.emplace(col, v);
      }
    }
    EXPECT_EQ(edges, wanted);
  }
}

/// A ring of `n` vertices, every edge in both directions, but for the entry (row, row + 1).
CsrMatrix ring_without(Index n, Index row) {
  std::vector<std::pair<Index, Index>> entries;
  for (Index v = 0; v < n; ++v) {
    const Index next = (v + 1) % n;
    if (v != row) entries.emplace_back(v, next);
    entries.emplace_back(next, v);
  }
  std::sort(entries.begin(), entries.end());
  return pattern_of(n, n, entries);
}

TEST(Adjacency, OneEntryWithoutItsMirrorImageIsSeenWhereverItIs) {
  constexpr Index kVertices = 300;
  for (Index row = -1; row < kVertices; ++row) {
    const Adjacency graph = build_adjacency(ring_without(kVertices, row));
    ASSERT_EQ(graph.entries(), 2 * kVertices) << row;
    for (Index v = 0; v < kVertices; ++v) {
      std::vector<Index> wanted = {(v + kVertices - 1) % kVertices, (v + 1) % kVertices};
      std::sort(wanted.begin(), wanted.end());
      ASSERT_EQ(neighbours_of(graph, v), wanted) << row;
    }
  }
}

TEST(Adjacency, AnnouncesItsSizeInTimeToStopIt) {
  struct TooMany {
    Offset entries;
  };
  const CsrMatrix matrix = test::path(10);
  try {
    build_adjacency(matrix, [](Offset entries) { throw TooMany{entries}; });
    FAIL() << "was not called";
  } catch (const TooMany& stopped) {
    EXPECT_EQ(stopped.entries, 18);
  }
}

TEST(Adjacency, IsTheSameForAnyNumberOfThreads) {
  const CsrMatrix matrix = test::power_law(10000, 60000, 7);
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Adjacency one = build_adjacency(matrix);
  omp_set_num_threads(5);
  const Adjacency five = build_adjacency(matrix);
  omp_set_num_threads(before);
  EXPECT_TRUE(std::equal(one.offsets.begin(), one.offsets.end(), five.offsets.begin()));
  ASSERT_EQ(one.entries(), five.entries());
  EXPECT_TRUE(std::equal(one.neighbours.begin(), one.neighbours.end(), five.neighbours.begin()));
}

}  // namespace
}  // namespace csrkit::reorder

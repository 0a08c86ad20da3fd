#include "preprocess/reorder/rcm/level_numbering.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <set>

#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit::reorder {
namespace {

CsrMatrix random_graph(Index vertices, Offset edges, std::uint64_t seed) {
  test::Entries entries;
  for (Offset e = 0; e < edges; ++e) {
    const std::uint64_t ends = mix64(seed * 1000003 + static_cast<std::uint64_t>(e));
    entries.emplace_back(static_cast<Index>(ends % static_cast<std::uint64_t>(vertices)),
                         static_cast<Index>((ends >> 32) % static_cast<std::uint64_t>(vertices)));
  }
  return test::undirected(vertices, std::move(entries));
}

/// The largest distance of two neighbours among the first `size` places.
Index bandwidth_of(const Adjacency& graph, const LevelNumbering& levels, Index size) {
  std::vector<Index> place(static_cast<std::size_t>(graph.vertices), -1);
  for (Index i = 0; i < size; ++i) place[static_cast<std::size_t>(levels.places()[i])] = i;
  Index bandwidth = 0;
  for (Index v = 0; v < graph.vertices; ++v) {
    for (Offset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const Index u = graph.neighbours[e];
      bandwidth = std::max(bandwidth, std::abs(place[static_cast<std::size_t>(u)] -
                                               place[static_cast<std::size_t>(v)]));
    }
  }
  return bandwidth;
}

TEST(LevelNumbering, SaysTheBandwidthOfWhatItNumbers) {
  const Adjacency graph = build_adjacency(random_graph(3000, 9000, 7));
  LevelNumbering levels(graph);
  for (const Index root : {0, 17, 2999}) {
    const LevelNumbering::Levels found = levels.number(root);
    EXPECT_EQ(found.bandwidth, bandwidth_of(graph, levels, found.size)) << root;
    // Just below, it gives up; and it leaves nothing behind.
    EXPECT_EQ(levels.number(root, found.bandwidth - 1).bandwidth, LevelNumbering::kTooWide);
    const LevelNumbering::Levels again = levels.number(root, found.bandwidth);
    EXPECT_EQ(again.bandwidth, found.bandwidth);
    EXPECT_EQ(again.count, found.count);
    EXPECT_EQ(again.farthest, found.farthest);
  }
}

TEST(LevelNumbering, IsTheSameForAnyNumberOfThreads) {
  // Levels of up to 300,000 neighbours, so that teams come into it.
  const Adjacency graph = build_adjacency(random_graph(50000, 300000, 3));
  const int threads = omp_get_max_threads();
  std::vector<std::vector<Index>> orders;
  for (const int team : {1, 4}) {
    omp_set_num_threads(team);
    LevelNumbering levels(graph);
    const LevelNumbering::Levels found = levels.number(5);
    orders.push_back({found.bandwidth, found.count, found.farthest});
    for (Index i = 0; i < found.size; ++i) orders.back().push_back(levels.places()[i]);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(orders[0], orders[1]);
}

TEST(LevelNumbering, WhatIsKeptStays) {
  const Adjacency graph = build_adjacency(random_graph(500, 400, 11));
  LevelNumbering levels(graph);
  Buffer<Index> component(graph.vertices);
  std::set<Index> seen;
  for (Index v = 0; v < graph.vertices; ++v) {
    if (levels.is_numbered(v)) continue;
    const LevelNumbering::Levels found = levels.number(v);
    const Index size = found.size;
    ASSERT_NE(found.bandwidth, LevelNumbering::kTooWide);
    for (Index i = 0; i < size; ++i) component[i] = levels.places()[levels.done() + i];
    levels.keep(component, size);
    EXPECT_TRUE(levels.is_numbered(v));
  }
  EXPECT_EQ(levels.done(), graph.vertices);
  for (const Index v : levels.take_order()) seen.insert(v);
  EXPECT_EQ(seen.size(), 500u);
}

}  // namespace
}  // namespace csrkit::reorder

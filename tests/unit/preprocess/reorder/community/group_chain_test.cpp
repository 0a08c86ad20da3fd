#include "preprocess/reorder/community/group_chain.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "core/base/hash.h"

namespace csrkit::reorder {
namespace {

using Weights = std::vector<std::map<Index, std::uint32_t>>;  // by vertex, by neighbour

void connect(Weights& graph, Index u, Index v, std::uint32_t weight) {
  graph[static_cast<std::size_t>(u)][v] = graph[static_cast<std::size_t>(v)][u] = weight;
}

std::vector<Index> chained(const Weights& graph, const std::vector<Offset>& volumes) {
  GroupChain chain;
  chain.add_vertex(5);  // of a group before
  chain.clear();
  for (std::size_t v = 0; v < graph.size(); ++v) {
    chain.add_vertex(volumes[v]);
    for (const auto& [to, weight] : graph[v]) chain.add_edge(to, weight);
  }
  return chain.order();
}

/// One vertex after the other, looking at everything every time.
std::vector<Index> slowly(const Weights& graph, const std::vector<Offset>& volumes) {
  const std::size_t count = graph.size();
  std::vector<double> strength(count, 0.0);
  std::vector<bool> is_placed(count, false);
  std::vector<Index> order;
  while (order.size() < count) {
    std::size_t best = count;
    for (std::size_t v = 0; v < count; ++v) {
      if (is_placed[v]) continue;
      if (best == count || strength[v] > strength[best] ||
          (strength[v] == 0 && strength[best] == 0 && volumes[v] > volumes[best])) {
        best = v;
      }
    }
    is_placed[best] = true;
    order.push_back(static_cast<Index>(best));
    for (const auto& [to, weight] : graph[best]) {
      const auto u = static_cast<std::size_t>(to);
      if (!is_placed[u]) strength[u] += weight / static_cast<double>(volumes[u]);
    }
  }
  return order;
}

TEST(GroupChain, ByHand) {
  // The largest is 2; of its neighbours 0 has 3 of 6 there and 3 has 4 of 10; 1 only knows 3, and 4
  // nobody.
  Weights graph(5);
  connect(graph, 2, 0, 3);
  connect(graph, 2, 3, 4);
  connect(graph, 3, 1, 1);
  EXPECT_EQ(chained(graph, {6, 1, 20, 10, 7}), (std::vector<Index>{2, 0, 3, 1, 4}));
}

TEST(GroupChain, FewAndManyAreOrderedAlike) {
  for (const Index count : {40, 700}) {
    Weights graph(static_cast<std::size_t>(count));
    std::vector<Offset> volumes(static_cast<std::size_t>(count), 1);
    RandomStream random(static_cast<std::uint64_t>(count));
    for (Index i = 0; i < 2 * count; ++i) {
      const auto u = static_cast<Index>(below(random.next(), static_cast<std::uint64_t>(count)));
      const auto v = static_cast<Index>(below(random.next(), static_cast<std::uint64_t>(count)));
      if (u != v) connect(graph, u, v, 1 + static_cast<std::uint32_t>(below(random.next(), 9)));
    }
    for (std::size_t v = 0; v < graph.size(); ++v) {
      for (const auto& [to, weight] : graph[v]) volumes[v] += weight;
    }
    EXPECT_EQ(chained(graph, volumes), slowly(graph, volumes));
  }
}

}  // namespace
}  // namespace csrkit::reorder

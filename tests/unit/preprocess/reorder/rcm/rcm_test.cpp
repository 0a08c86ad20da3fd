#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>

#include "preprocess/reorder/reorder.h"
#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

Permutation rcm(const CsrMatrix& matrix) { return make_ordering("rcm", matrix).order; }

TEST(Rcm, StraightensAPath) {
  const CsrMatrix matrix = test::shuffled(test::path(1000), 9);
  EXPECT_EQ(test::bandwidth(permute_both(matrix, rcm(matrix))), 1);
}

TEST(Rcm, FindsTheShortSideOfAGridAndTheInverseDoesNot) {
  // No numbering of a w x h grid, w <= h, has a bandwidth below w.
  const CsrMatrix matrix = test::shuffled(test::grid(12, 60), 10);
  const Permutation order = rcm(matrix);
  EXPECT_LE(test::bandwidth(permute_both(matrix, order)), 13);
  EXPECT_GT(test::bandwidth(permute_both(matrix, order.inverse())), 300);
}

TEST(Rcm, TriesMoreThanFarEndsOnGraphsOfFewLevels) {
  // Two stars of many leaves, whose hubs are neighbours, with a tail each: a far end is the tip of
  // a tail, and all leaves of a hub are one level. Any numbering puts half a star's leaves between
  // it and some leaf; from the tip it would be all of them and the other hub's beside.
  test::Entries edges{{0, 1}};
  Index next = 2;
  for (const Index hub : {0, 1}) {
    for (Index leaf = 0; leaf < 3000; ++leaf) edges.emplace_back(hub, next++);
    edges.emplace_back(hub, next);
    for (Index tail = 0; tail < 4; ++tail, ++next) edges.emplace_back(next, next + 1);
    ++next;
  }
  const CsrMatrix matrix = test::undirected(next, edges);
  const Permutation order = rcm(matrix);
  const Index width = test::bandwidth(permute_both(matrix, order));
  EXPECT_LE(width, 3010);
  EXPECT_EQ(order.size(), next);
}

TEST(Rcm, ByHand) {
  // The path 3 - 0 - 2 - 1. From its far end 3 (the search starts at 0, ends at 1, turns, ends at
  // 3, which gains nothing): numbered 3, 0, 2, 1, then reversed.
  const CsrMatrix matrix = test::undirected(4, {{3, 0}, {0, 2}, {2, 1}});
  const Permutation order = rcm(matrix);
  EXPECT_EQ((std::vector<Index>(order.old_of_new(), order.old_of_new() + 4)),
            (std::vector<Index>{1, 2, 0, 3}));
}

TEST(Rcm, KeepsComponentsTogetherInTheirOrder) {
  // Two interleaved paths on the even and the odd vertices, and a lonely vertex at either end.
  test::Entries edges;
  for (Index v = 1; v + 2 < 41; ++v) edges.emplace_back(v, v + 2);
  const CsrMatrix matrix = test::undirected(42, edges);
  const Permutation order = rcm(matrix);
  EXPECT_EQ(test::bandwidth(permute_both(matrix, order)), 1);
  EXPECT_EQ(order.new_of_old()[0], 0);
  EXPECT_EQ(order.new_of_old()[41], 41);
  for (Index v = 1; v < 41; ++v) {
    EXPECT_EQ(order.new_of_old()[v] <= 20, v % 2 == 1) << v;
  }
}

TEST(Rcm, LooksAtBothDirectionsOfADirectedMatrix) {
  test::Entries arcs;  // a path whose arcs point to and fro
  for (Index v = 0; v < 99; ++v) {
    if (v % 2 == 0) {
      arcs.emplace_back(v, v + 1);
    } else {
      arcs.emplace_back(v + 1, v);
    }
  }
  const CsrMatrix matrix = test::shuffled(test::pattern_of(100, 100, arcs), 5);
  EXPECT_EQ(test::bandwidth(permute_both(matrix, rcm(matrix))), 1);
}

/// Three components, two of them with levels of thousands of vertices, ids mixed.
CsrMatrix wide_levels() {
  test::Entries edges;
  RandomStream random(3);
  for (const Index first : {0, 30000}) {
    for (Index v = 1; v < 30000; ++v) {
      for (int k = 0; k < 3; ++k) {
        const auto u = static_cast<Index>(below(random.next(), static_cast<std::uint64_t>(v)));
        edges.emplace_back(first + u, first + v);
      }
    }
  }
  for (Index v = 60001; v < 60100; ++v) edges.emplace_back(v - 1, v);
  return test::shuffled(test::undirected(60101, std::move(edges)), 4);
}

TEST(Rcm, WideLevelsAreTheSameForAnyThreadCount) {
  const CsrMatrix matrix = wide_levels();
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Permutation serial = rcm(matrix);
  for (const int threads : {2, 3, 7}) {
    omp_set_num_threads(threads);
    const Permutation order = rcm(matrix);
    EXPECT_TRUE(
        std::equal(order.old_of_new(), order.old_of_new() + matrix.rows(), serial.old_of_new()))
        << threads;
  }
  omp_set_num_threads(before);
}

TEST(Rcm, ACallbackThatThrowsStopsIt) {
  ReorderOptions options;
  options.progress = [](const char*, std::uint64_t, std::uint64_t) { throw Error("enough"); };
  EXPECT_THROW(make_ordering("rcm", test::path(1 << 21), options), Error);
}

}  // namespace
}  // namespace csrkit

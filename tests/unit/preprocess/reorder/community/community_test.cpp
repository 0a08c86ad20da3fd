#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "preprocess/reorder/parts/partition_borders.h"
#include "preprocess/reorder/reorder.h"
#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

Permutation community(const CsrMatrix& matrix) { return make_ordering("community", matrix).order; }

/// `groups` cliques of `size` vertices, and as many edges between neighbouring cliques of a ring as
/// `bridges` says. Vertices of a clique have consecutive numbers.
CsrMatrix cliques(Index groups, Index size, Index bridges) {
  test::Entries edges;
  for (Index g = 0; g < groups; ++g) {
    for (Index u = 0; u < size; ++u) {
      for (Index v = u + 1; v < size; ++v) edges.emplace_back(g * size + u, g * size + v);
    }
    for (Index b = 0; b < bridges; ++b) {
      edges.emplace_back(g * size + b, (g + 1) % groups * size + b);
    }
  }
  return test::undirected(groups * size, std::move(edges));
}

double mean_distance(const CsrMatrix& matrix) {
  double sum = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      sum += std::abs(matrix.col_indices()[at] - row);
    }
  }
  return sum / static_cast<double>(matrix.nnz());
}

TEST(Community, CliquesBecomeIntervals) {
  constexpr Index kGroups = 40, kSize = 12;
  const Permutation hidden = make_ordering("random", test::path(kGroups * kSize)).order;
  const CsrMatrix matrix = permute_both(cliques(kGroups, kSize, 2), hidden);
  const Permutation order = community(matrix);
  for (Index place = 0; place < kGroups * kSize; ++place) {
    const Index clique = hidden.old_of_new()[order.old_of_new()[place]] / kSize;
    const Index first = hidden.old_of_new()[order.old_of_new()[place / kSize * kSize]] / kSize;
    ASSERT_EQ(clique, first) << "place " << place;
  }
}

TEST(Community, KeepsItsGroupsAsAPartition) {
  const CsrMatrix matrix = test::shuffled(cliques(8, 20, 1), 3);
  const Ordering ordering = make_ordering("community", matrix);
  ASSERT_TRUE(ordering.partition.has_value());
  EXPECT_EQ(ordering.partition->parts, 8);
  for (Index place = 0; place < 160; ++place) {
    EXPECT_EQ((*ordering.partition->part_of_row)[place], place / 20) << place;
  }
  // Rows without entries share the last part; of a rectangular matrix the rows have parts.
  const Ordering lonely = make_ordering("community", test::undirected(9, {{1, 5}, {5, 7}, {7, 1}}));
  for (Index row = 3; row < 9; ++row) {
    EXPECT_EQ((*lonely.partition->part_of_row)[row], lonely.partition->parts - 1);
  }
  EXPECT_LT((*lonely.partition->part_of_row)[2], lonely.partition->parts - 1);
  const Ordering wide =
      make_ordering("community", test::pattern_of(2, 3, {{0, 0}, {0, 1}, {1, 2}}));
  EXPECT_EQ(wide.partition->part_of_row->size(), 2);
  EXPECT_EQ(wide.partition->parts, 2);
}

TEST(Community, NeighboursThatDecideTogetherDoNotChangePlaces) {
  const auto modularity = [](const CsrMatrix& matrix) {
    const Ordering ordering = make_ordering("community", matrix);
    return partition_modularity(permute_both(matrix, ordering.order), *ordering.partition);
  };
  // The leaves of a star belong to its hub; pairs are pairs; stretches of a path and patches of a
  // grid hang together, however their vertices are numbered.
  EXPECT_EQ(make_ordering("community", test::star(4)).partition->parts, 1);
  EXPECT_EQ(make_ordering("community", test::undirected(8, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}))
                .partition->parts,
            4);
  EXPECT_GT(modularity(test::path(12)), 0.45);
  EXPECT_GT(modularity(test::path(1000)), 0.93);
  for (const Index width : {16, 100, 240, 256}) {
    const CsrMatrix grid = test::grid(width, 100);
    const double numbered_by_rows = modularity(grid);
    EXPECT_GT(numbered_by_rows, modularity(test::shuffled(grid, 5)) - 0.02) << width;
  }
}

TEST(Community, TheInverseWouldNotDo) {
  const CsrMatrix matrix = test::shuffled(cliques(50, 10, 1), 7);
  const Permutation order = community(matrix);
  EXPECT_LT(mean_distance(permute_both(matrix, order)), 20);
  EXPECT_GT(mean_distance(permute_both(matrix, order.inverse())), 100);
}

TEST(Community, GroupsOfGroupsLieTogether) {
  // Six rings of ten cliques each, without edges between rings.
  constexpr Index kRings = 6, kRing = 60;
  test::Entries edges;
  const CsrMatrix ring = cliques(10, 6, 2);
  for (Index r = 0; r < kRings; ++r) {
    for (Index row = 0; row < kRing; ++row) {
      for (Offset at = ring.row_offsets()[row]; at < ring.row_offsets()[row + 1]; ++at) {
        edges.emplace_back(r * kRing + row, r * kRing + ring.col_indices()[at]);
      }
    }
  }
  const Permutation hidden = make_ordering("random", test::path(kRings * kRing)).order;
  const Permutation order =
      community(permute_both(test::pattern_of(kRings * kRing, kRings * kRing, edges), hidden));
  for (Index place = 0; place < kRings * kRing; ++place) {
    const auto ring_at = [&](Index p) {
      return hidden.old_of_new()[order.old_of_new()[p]] / kRing;
    };
    ASSERT_EQ(ring_at(place), ring_at(place / kRing * kRing)) << "place " << place;
  }
}

TEST(Community, IsTheSameForAnyNumberOfThreads) {
  // Large enough for every parallel loop to use its threads.
  const CsrMatrix matrix = test::power_law(40000, 200000, 8);
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Permutation once = community(matrix);
  for (const int threads : {2, 5}) {
    omp_set_num_threads(threads);
    const Permutation again = community(matrix);
    EXPECT_TRUE(std::equal(once.new_of_old(), once.new_of_old() + once.size(), again.new_of_old()))
        << threads;
  }
  omp_set_num_threads(before);
}

TEST(Community, RowsWithoutEntriesComeLastInTheirOrder) {
  const CsrMatrix matrix = test::undirected(9, {{1, 5}, {5, 7}, {7, 1}});
  const Permutation order = community(matrix);
  EXPECT_EQ((std::vector<Index>(order.old_of_new() + 3, order.old_of_new() + 9)),
            (std::vector<Index>{0, 2, 3, 4, 6, 8}));
}

TEST(Community, RectangularMatricesGetBothOrders) {
  // Two blocks, rows and columns dealt out in turn.
  test::Entries entries;
  for (Index row = 0; row < 20; ++row) {
    for (Index col = row % 2; col < 12; col += 2) entries.emplace_back(row, col);
  }
  const Ordering ordering = make_ordering("community", test::pattern_of(20, 12, entries));
  for (Index i = 0; i < 10; ++i) {
    EXPECT_EQ(ordering.order.old_of_new()[i] % 2, ordering.order.old_of_new()[0] % 2);
  }
  for (Index i = 0; i < 6; ++i) {
    EXPECT_EQ(ordering.col_order->old_of_new()[i] % 2, ordering.order.old_of_new()[0] % 2);
  }
}

}  // namespace
}  // namespace csrkit

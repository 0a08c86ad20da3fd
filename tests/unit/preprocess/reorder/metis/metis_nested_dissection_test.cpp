#include <gtest/gtest.h>

#include "preprocess/reorder/reorder.h"
#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

class NestedDissection : public testing::Test {
 protected:
  void SetUp() override {
    for (const ReorderMethod& method : reorder_methods()) {
      if (std::string(method.name) == kName && !method.is_available) {
        GTEST_SKIP() << "built without METIS";
      }
    }
  }

  static constexpr const char* kName = "metis-nested-dissection";

  static Permutation order(const CsrMatrix& matrix, std::uint64_t seed = 1) {
    ReorderOptions options;
    options.seed = seed;
    return make_ordering(kName, matrix, options).order;
  }
};

TEST_F(NestedDissection, TheDirectionShowsInTheFillOfAGrid) {
  const CsrMatrix matrix = test::grid(24, 24);
  const Permutation dissected = order(matrix);
  const Offset natural = test::cholesky_entries(matrix);
  const Offset right = test::cholesky_entries(permute_both(matrix, dissected));
  const Offset swapped = test::cholesky_entries(permute_both(matrix, dissected.inverse()));
  EXPECT_LT(2 * right, natural) << right << " against " << natural;
  EXPECT_LT(2 * right, swapped) << right << " against " << swapped;
}

TEST_F(NestedDissection, WhatSeparatesComesLast) {
  // A hub between two cliques separates them, whatever else METIS decides: it is numbered last.
  test::Entries edges;
  for (Index u = 0; u < 150; ++u) {
    for (Index v = u + 1; v < 150; ++v) {
      edges.emplace_back(u, v);
      edges.emplace_back(151 + u, 151 + v);
    }
    edges.emplace_back(u, 150);
    edges.emplace_back(151 + u, 150);
  }
  const CsrMatrix matrix = test::undirected(301, edges);
  EXPECT_EQ(order(matrix).new_of_old()[150], 300);
}

TEST_F(NestedDissection, TheSeedDecides) {
  const CsrMatrix matrix = test::shuffled(test::grid(40, 40), 6);
  const Permutation one = order(matrix, 1), again = order(matrix, 1), two = order(matrix, 2);
  EXPECT_TRUE(std::equal(one.new_of_old(), one.new_of_old() + one.size(), again.new_of_old()));
  EXPECT_FALSE(std::equal(one.new_of_old(), one.new_of_old() + one.size(), two.new_of_old()));
}

}  // namespace
}  // namespace csrkit

// Patterns whose every entry can be written down: poisson, banded, fem-blocks, arrow, epidemic.
#include <cmath>

#include "tests/unit/preprocess/generate/generate_testing.h"

namespace csrkit {
namespace {

TEST(Poisson, FivePointsOnThreeByTwo) {
  const CsrMatrix a = make("poisson", {{"nx", "3"}, {"ny", "2"}});
  ASSERT_EQ(a.rows(), 6);
  EXPECT_EQ(row_of(a, 0), (std::vector<Index>{0, 1, 3}));
  EXPECT_EQ(row_of(a, 1), (std::vector<Index>{0, 1, 2, 4}));
  EXPECT_EQ(row_of(a, 5), (std::vector<Index>{2, 4, 5}));
  EXPECT_EQ(values_of(a, 1), (std::vector<double>{-1, 4, -1, -1}));
}

TEST(Poisson, EntriesByStencil) {
  EXPECT_EQ(make("poisson", {{"nx", "64"}}).nnz(), 20224);
  EXPECT_EQ(make("poisson", {{"stencil", "9"}, {"nx", "10"}}).nnz(), 28 * 28);
  EXPECT_EQ(make("poisson", {{"stencil", "7"}, {"nx", "10"}}).nnz(), 1000 * 7 - 6 * 100);
  EXPECT_EQ(make("poisson", {{"stencil", "27"}, {"nx", "10"}}).nnz(), 28 * 28 * 28);
}

TEST(Poisson, ValuesAreThoseOfTheOperator) {
  for (const auto& [stencil, diagonal] :
       std::map<std::string, double>{{"5", 4}, {"9", 8}, {"7", 6}, {"27", 26}}) {
    const CsrMatrix a = make("poisson", {{"stencil", stencil}, {"nx", "5"}}, 1, ValueKind::f64);
    const Index middle = a.rows() / 2;
    double sum = 0;
    for (const double value : values_of(a, middle)) sum += value;
    EXPECT_EQ(sum, 0) << stencil;  // constants are in the kernel away from the boundary
    EXPECT_EQ(a.row_length(middle), diagonal + 1);
  }
}

TEST(Poisson, AnisotropicCouplings) {
  const CsrMatrix a =
      make("poisson", {{"nx", "3"}, {"stencil", "7"}, {"weight-y", "0.5"}, {"weight-z", "4"}}, 1,
           ValueKind::f64);
  EXPECT_EQ(values_of(a, 13), (std::vector<double>{-4, -0.5, -1, 11, -1, -0.5, -4}));
  EXPECT_EQ(values_of(a, 0), (std::vector<double>{11, -1, -0.5, -4}));
  const CsrMatrix box =
      make("poisson", {{"nx", "3"}, {"stencil", "9"}, {"weight-y", "0.5"}}, 1, ValueKind::f64);
  EXPECT_EQ(values_of(box, 4),
            (std::vector<double>{-0.5, -0.5, -0.5, -1, 5, -1, -0.5, -0.5, -0.5}));
}

TEST(Poisson, RandomCouplingsAreSymmetricAndDominated) {
  const ParameterMap parameters{{"nx", "12"}, {"ny", "9"}, {"contrast", "1e4"}};
  const CsrMatrix a = make("poisson", parameters, 3, ValueKind::f64);
  EXPECT_TRUE(identical(a, transpose(a)));
  EXPECT_FALSE(identical(a, make("poisson", parameters, 4, ValueKind::f64)));
  double least = 0, most = -1e300;  // of couplings, which are negative
  for (Index row = 0; row < a.rows(); ++row) {
    const std::vector<Index> cols = row_of(a, row);
    const std::vector<double> values = values_of(a, row);
    double sum = 0, diagonal = 0;
    for (std::size_t i = 0; i < cols.size(); ++i) {
      sum += values[i];
      if (cols[i] == row) {
        diagonal = values[i];
        continue;
      }
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
    }
    const bool is_inside = a.row_length(row) == 5;
    EXPECT_GE(sum, is_inside ? -1e-12 * diagonal : 1e-3);
    if (is_inside) {
      EXPECT_NEAR(sum, 0, 1e-12 * diagonal);
    }
  }
  EXPECT_GT(least / most, 100);
  EXPECT_GE(least, -100);
}

TEST(Banded, FullBand) {
  const CsrMatrix a = make("banded", {{"n", "5"}, {"bandwidth", "1"}});
  EXPECT_EQ(row_of(a, 0), (std::vector<Index>{0, 1}));
  EXPECT_EQ(row_of(a, 2), (std::vector<Index>{1, 2, 3}));
  EXPECT_EQ(make("banded", {{"n", "5"}, {"bandwidth", "0"}}).nnz(), 5);
  EXPECT_EQ(make("banded", {{"n", "5"}, {"bandwidth", "2000000000"}}).nnz(), 25);
}

TEST(Banded, SingleDiagonals) {
  const CsrMatrix a = make("banded", {{"n", "10"}, {"offsets", "4,1,4"}});
  EXPECT_EQ(row_of(a, 0), (std::vector<Index>{0, 1, 4}));
  EXPECT_EQ(row_of(a, 5), (std::vector<Index>{1, 4, 5, 6, 9}));
}

TEST(Banded, FillIsAShare) {
  const CsrMatrix a = make("banded", {{"n", "2000"}, {"bandwidth", "50"}, {"fill", "0.3"}});
  const double beside = 2000.0 * 100 - 50 * 51;
  EXPECT_NEAR(static_cast<double>(a.nnz() - 2000) / beside, 0.3, 0.01);
}

TEST(Banded, DiagonalDominates) {
  const CsrMatrix a = make("banded", {{"n", "50"}, {"bandwidth", "5"}}, 1, ValueKind::f64);
  for (Index row = 0; row < 50; ++row) {
    const std::vector<Index> cols = row_of(a, row);
    const std::vector<double> values = values_of(a, row);
    double diagonal = 0, others = 0;
    for (std::size_t i = 0; i < cols.size(); ++i) {
      (cols[i] == row ? diagonal : others) += std::fabs(values[i]);
    }
    EXPECT_GT(diagonal, others);
  }
}

TEST(FemBlocks, CouplingsAreDenseBlocks) {
  const CsrMatrix a =
      make("fem-blocks", {{"nx", "4"}, {"ny", "3"}, {"nz", "3"}, {"dof", "3"}, {"drop", "0.3"}});
  ASSERT_EQ(a.rows(), 108);
  for (Index row = 0; row < a.rows(); ++row) {
    const std::vector<Index> cols = row_of(a, row);
    EXPECT_EQ(cols, row_of(a, row / 3 * 3));  // the unknowns of a node see the same
    ASSERT_EQ(cols.size() % 3, 0u);
    for (std::size_t i = 0; i < cols.size(); i += 3) {
      EXPECT_EQ(cols[i] % 3, 0);
      EXPECT_EQ(cols[i + 2], cols[i] + 2);
    }
  }
  EXPECT_EQ(make("fem-blocks", {{"nx", "9"}, {"ny", "9"}, {"nz", "9"}, {"dof", "1"}}).nnz(),
            25 * 25 * 25);
}

TEST(Arrow, HubAndTridiagonal) {
  const CsrMatrix a = make("arrow", {{"n", "10"}, {"hub", "5"}});
  EXPECT_EQ(row_of(a, 5), (std::vector<Index>{0, 2, 4, 5, 6, 8}));  // places 0 2 4 6 8
  EXPECT_EQ(row_of(a, 0), (std::vector<Index>{0, 1, 5}));
  EXPECT_EQ(row_of(a, 8), (std::vector<Index>{5, 7, 8, 9}));
  EXPECT_EQ(row_of(a, 1), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(make("arrow", {{"n", "20000"}, {"hub", "8000"}}).nnz(), 75996);
}

TEST(Epidemic, TwoPeople) {
  // States (healthy, ill): 00 10 20 | 01 11 | 02.
  const CsrMatrix a = make("epidemic", {{"size", "2"}});
  ASSERT_EQ(a.rows(), 6);
  EXPECT_EQ(row_of(a, 0), (std::vector<Index>{0, 1}));     // arrive
  EXPECT_EQ(row_of(a, 1), (std::vector<Index>{1, 2, 3}));  // arrive, fall ill
  EXPECT_EQ(row_of(a, 3), (std::vector<Index>{0, 3, 4}));  // leave, arrive
  EXPECT_EQ(row_of(a, 4), (std::vector<Index>{1, 4, 5}));
  EXPECT_EQ(row_of(a, 5), (std::vector<Index>{3, 5}));
  EXPECT_EQ(make("epidemic", {{"size", "1024"}}).nnz(), 2100225);
}

TEST(Proximity, PointsSeeThemselvesAndWholeBlocks) {
  const CsrMatrix a = make("proximity", {{"points", "200"}, {"dof", "2"}, {"radius", "2"}});
  for (Index row = 0; row < a.rows(); ++row) {
    const std::vector<Index> cols = row_of(a, row);
    EXPECT_TRUE(std::binary_search(cols.begin(), cols.end(), row));
    EXPECT_EQ(cols, row_of(a, row / 2 * 2));
  }
  // A radius as large as the box couples all.
  EXPECT_EQ(make("proximity", {{"points", "50"}, {"dof", "1"}, {"radius", "100"}}).nnz(), 2500);
}

}  // namespace
}  // namespace csrkit

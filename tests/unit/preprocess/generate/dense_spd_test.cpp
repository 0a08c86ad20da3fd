#include "preprocess/generate/dense_spd.h"

#include <gtest/gtest.h>

#include <cmath>

namespace csrkit {
namespace {

TEST(DenseSpd, IsSymmetricToTheBitAndHasTheTraceOfItsEigenvalues) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    const Index rows = 65;
    const DenseMatrix a = generate_dense_spd(rows, 1e4, kind, 7);
    double trace = 0, expected = 0, squares = 0, expected_squares = 0;
    for (Index i = 0; i < rows; ++i) {
      trace += a.view().at(i, i);
      const double eigenvalue = std::pow(1e4, -static_cast<double>(i) / (rows - 1));
      expected += eigenvalue;
      expected_squares += eigenvalue * eigenvalue;
      for (Index j = 0; j < rows; ++j) {
        EXPECT_EQ(a.view().at(i, j), a.view().at(j, i));
        squares += a.view().at(i, j) * a.view().at(i, j);
      }
    }
    const double tolerance = kind == ValueKind::f32 ? 1e-5 : 1e-12;
    EXPECT_NEAR(trace, expected, tolerance);
    EXPECT_NEAR(squares, expected_squares, tolerance);  // the Frobenius norm
  }
}

TEST(DenseSpd, SmallestSizesAndWrongConditions) {
  EXPECT_EQ(generate_dense_spd(0, 10, ValueKind::f64, 1).rows(), 0);
  const DenseMatrix one = generate_dense_spd(1, 10, ValueKind::f64, 1);
  EXPECT_NEAR(one.view().at(0, 0), 1, 1e-15);
  EXPECT_THROW(generate_dense_spd(3, 0.5, ValueKind::f64, 1), UsageError);
}

}  // namespace
}  // namespace csrkit

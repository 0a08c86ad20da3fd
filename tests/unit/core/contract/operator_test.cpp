#include "core/contract/operator.h"

#include <gtest/gtest.h>

#include <cmath>

namespace csrkit {
namespace {

TEST(RequireBindable, ChecksShapeKindAndLeadingDimension) {
  const OperatorShape shape = {2, 3, 4, ValueKind::f32, ValueKind::f32, MemorySpace::host};
  DenseMatrix b(3, 4, ValueKind::f32), c(2, 4, ValueKind::f32), wide(2, 4, ValueKind::f32, 9);
  EXPECT_NO_THROW(require_bindable(shape, 0, b.view(), c.view()));
  EXPECT_THROW(require_bindable(shape, 0, b.view(), wide.view()), UsageError);
  EXPECT_NO_THROW(require_bindable(shape, kLeadingDimension, b.view(), wide.view()));
  EXPECT_THROW(require_bindable(shape, 0, c.view(), c.view()), UsageError);
  DenseView narrow = c.view();
  narrow.leading_dim = 3;
  EXPECT_THROW(require_bindable(shape, ~0u, b.view(), narrow), UsageError);
  DenseMatrix doubles(2, 4, ValueKind::f64);
  EXPECT_THROW(require_bindable(shape, ~0u, b.view(), doubles.view()), UsageError);
}

TEST(RequireMultipliable, AlphaAndBetaAreACapability) {
  EXPECT_NO_THROW(require_multipliable(Semiring::plus_times, 0, ValueKind::f64, 1, 0));
  EXPECT_THROW(require_multipliable(Semiring::plus_times, 0, ValueKind::f64, 2, 0), UsageError);
  EXPECT_THROW(require_multipliable(Semiring::plus_times, 0, ValueKind::f64, 1, 1), UsageError);
  EXPECT_NO_THROW(require_multipliable(Semiring::plus_times, kAlphaBeta, ValueKind::f64, 2, 1));
  EXPECT_THROW(require_multipliable(Semiring::max_times, ~0u, ValueKind::f64, 2, 0), UsageError);
}

TEST(RequireMultipliable, FactorsFitTheSums) {
  const auto require = [](ValueKind sums, double alpha, double beta) {
    require_multipliable(Semiring::plus_times, kAlphaBeta, sums, alpha, beta);
  };
  EXPECT_NO_THROW(require(ValueKind::f32, -3.4028235e38, 1e-300)) << "rounded to f32's largest";
  EXPECT_NO_THROW(require(ValueKind::f64, 1e300, -1e300));
  EXPECT_NO_THROW(require(ValueKind::f32, INFINITY, NAN));
  EXPECT_THROW(require(ValueKind::f32, 1, -1e39), UsageError);
  try {
    require(ValueKind::f32, 1e39, 0);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "alpha is 1e+39, beyond the range of f32, the kind of the sums; use operands of "
                 "f64 (--value-kind f64)");
  }
}

TEST(IsVectorAligned, LooksAtTheFirstElementAndAtRowsApart) {
  alignas(16) float data[32];
  ConstDenseView view{data, ValueKind::f32, 2, 3, 3, MemorySpace::device};
  EXPECT_TRUE(is_vector_aligned(view));  // rows touch: only the start counts
  view.leading_dim = 5;
  EXPECT_FALSE(is_vector_aligned(view));
  view.leading_dim = 8;
  EXPECT_TRUE(is_vector_aligned(view));
  view.data = data + 1;
  EXPECT_FALSE(is_vector_aligned(view));
}

}  // namespace
}  // namespace csrkit

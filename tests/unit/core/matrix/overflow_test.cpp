#include "core/matrix/overflow.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/core/file/csr_file_samples.h"

namespace csrkit {
namespace {

/// Two rows of two: 1, `second`, `third`, -inf.
CsrMatrix matrix_with(double second, double third, ValueKind kind = ValueKind::f64) {
  return make_csr(2, 9, {0, 2, 4}, {0, 7, 3, 8}, {1, second, third, -INFINITY}, kind);
}

TEST(Overflow, CountsFiniteValuesAndNamesTheFirst) {
  const CsrMatrix two = matrix_with(-1e300, 2e300);
  for (const int threads : {1, 3}) {
    EXPECT_EQ(overflow_in(two, ValueKind::f32, threads),
              "2 values beyond the range of f32, the first -1e+300 in row 0, column 7 (counted "
              "from 0)");
  }
  EXPECT_EQ(overflow_in(matrix_with(NAN, 70000), ValueKind::f16),
            "1 value beyond the range of f16, the first 70000 in row 1, column 3 (counted from 0)");
  EXPECT_NE(overflow_in(matrix_with(1, 70000, ValueKind::f32), ValueKind::f16), "");
  EXPECT_NE(overflow_in(matrix_with(1, 1e30, ValueKind::bf16), ValueKind::f16), "");
}

TEST(Overflow, OfNothingThatStaysFinite) {
  EXPECT_EQ(overflow_in(matrix_with(NAN, INFINITY), ValueKind::f16), "");
  EXPECT_EQ(overflow_in(matrix_with(1e300, 1), ValueKind::f64), "");
  EXPECT_EQ(overflow_in(matrix_with(1e300, 1), ValueKind::none), "");
  EXPECT_EQ(overflow_in(matrix_with(1e30, 1), ValueKind::bf16), "");
  EXPECT_EQ(overflow_in(matrix_with(65519, 1), ValueKind::f16), "") << "rounds to 65504";
  EXPECT_NE(overflow_in(matrix_with(65520, 1), ValueKind::f16), "");
  EXPECT_EQ(overflow_in(five_by_seven(ValueKind::none), ValueKind::f16), "");
  EXPECT_EQ(overflow_in(random_csr(0, 0, 0, ValueKind::f64), ValueKind::f16), "");
}

TEST(Overflow, InDenseMatricesOfAnyLeadingDimension) {
  DenseMatrix dense(3, 2, ValueKind::f64, 5);
  fill_random(dense.view(), 1);
  EXPECT_EQ(overflow_in(std::as_const(dense).view(), ValueKind::f32), "");
  dense.view().set(2, 1, 1e39);
  EXPECT_EQ(overflow_in(std::as_const(dense).view(), ValueKind::f32),
            "1 value beyond the range of f32, the first 1e+39 in row 2, column 1 (counted from 0)");
  EXPECT_EQ(overflow_in(DenseMatrix(4, 0, ValueKind::f64).view(), ValueKind::f32), "");
}

std::string lost(const CsrMatrix& matrix, ValueKind kind, int threads = 0) {
  return text_of(underflow_in(matrix, kind, threads), kind);
}

TEST(Underflow, CountsWhatBecomesZeroAndNamesTheFirst) {
  for (const int threads : {1, 3}) {
    EXPECT_EQ(lost(matrix_with(-1e-50, 1e-46), ValueKind::f32, threads),
              "2 values too small for f32, the first -1e-50 in row 0, column 7 (counted from 0)");
  }
  EXPECT_EQ(lost(matrix_with(NAN, 1e-8), ValueKind::f16),
            "1 value too small for f16, the first 1e-08 in row 1, column 3 (counted from 0)");
  EXPECT_NE(lost(matrix_with(1, 1e-8, ValueKind::f32), ValueKind::f16), "");
  EXPECT_NE(lost(matrix_with(1, 1e-8, ValueKind::bf16), ValueKind::f16), "");
  EXPECT_NE(lost(matrix_with(1, 1e-44, ValueKind::f32), ValueKind::bf16), "");
  EXPECT_EQ(underflow_in(matrix_with(1e-9, 1e-8), ValueKind::f16).count, 2);
}

TEST(Underflow, OfNothingThatStaysAbove) {
  EXPECT_EQ(lost(matrix_with(0, -0.0), ValueKind::f16), "");
  EXPECT_EQ(lost(matrix_with(NAN, INFINITY), ValueKind::f16), "");
  EXPECT_EQ(lost(matrix_with(1e-300, 1), ValueKind::f64), "");
  EXPECT_EQ(lost(matrix_with(1e-300, 1), ValueKind::none), "");
  EXPECT_EQ(lost(matrix_with(1e-45, 1), ValueKind::f32), "") << "the smallest number of f32";
  EXPECT_EQ(lost(matrix_with(6e-8, 1), ValueKind::f16), "") << "the smallest number of f16";
  EXPECT_EQ(lost(matrix_with(6e-8, 1, ValueKind::f16), ValueKind::bf16), "");
  EXPECT_EQ(lost(five_by_seven(ValueKind::none), ValueKind::f16), "");
  EXPECT_EQ(lost(random_csr(0, 0, 0, ValueKind::f64), ValueKind::f16), "");
}

TEST(Underflow, InDenseMatricesOfAnyLeadingDimension) {
  DenseMatrix dense(3, 2, ValueKind::f64, 5);
  fill_random(dense.view(), 1);
  EXPECT_EQ(underflow_in(std::as_const(dense).view(), ValueKind::f32).count, 0);
  dense.view().set(2, 1, 1e-50);
  EXPECT_EQ(text_of(underflow_in(std::as_const(dense).view(), ValueKind::f32), ValueKind::f32),
            "1 value too small for f32, the first 1e-50 in row 2, column 1 (counted from 0)");
}

}  // namespace
}  // namespace csrkit

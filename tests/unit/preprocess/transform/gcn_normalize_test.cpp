#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "preprocess/transform/transform.h"
#include "tests/unit/preprocess/transform/small_matrix.h"

namespace csrkit {
namespace {

TEST(GcnNormalize, DividesByTheRootsOfBothDegrees) {
  // A triangle with self loops at 0 only: degrees 3, 2, 2.
  const std::vector<double> dense = {1, 1, 1, 1, 0, 1, 1, 1, 0};
  for (const ValueKind kind : kAllValueKinds) {
    const CsrMatrix result = gcn_normalize(matrix_of(3, 3, dense, kind));
    EXPECT_EQ(result.value_kind(), kind == ValueKind::none ? ValueKind::f32 : kind);
    const std::vector<double> found = dense_of(result);
    const double tolerance = unit_roundoff(result.value_kind());
    EXPECT_NEAR(found[0], 1.0 / 3, tolerance);
    EXPECT_NEAR(found[1], 1 / std::sqrt(6.0), tolerance);
    EXPECT_NEAR(found[5], 0.5, tolerance);
    EXPECT_EQ(found[1], found[3]);
    EXPECT_EQ(found[4], 0);
  }
}

TEST(GcnNormalize, CountsMagnitudesSoThatSignsDoNotCancel) {
  const CsrMatrix result = gcn_normalize(matrix_of(2, 2, {2, -2, -2, 2}, ValueKind::f64));
  EXPECT_EQ(dense_of(result), (std::vector<double>{0.5, -0.5, -0.5, 0.5}));
}

TEST(GcnNormalize, GivesZeroWhereAVertexHasNoWeight) {
  // Vertex 1 has no outgoing edge: its degree is 0, so column 1 becomes 0. Entries stay stored.
  const CsrMatrix result = gcn_normalize(matrix_of(2, 2, {2, 2, 0, 0}, ValueKind::f64));
  EXPECT_EQ(result.nnz(), 2);
  EXPECT_EQ(dense_of(result), (std::vector<double>{0.5, 0, 0, 0}));
}

TEST(GcnNormalize, KeepsNaNVisibleAndSurvivesExtremes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(
      std::isnan(dense_of(gcn_normalize(matrix_of(2, 2, {1, nan, 0, 0}, ValueKind::f64)))[1]));
  const CsrMatrix tiny = matrix_of(2, 2, {0, 4.9e-324, 4.9e-324, 0}, ValueKind::f64);
  EXPECT_TRUE(std::isfinite(dense_of(gcn_normalize(tiny))[1]));
  const CsrMatrix huge = matrix_of(2, 2, {0, 1e308, 1e308, 0}, ValueKind::f64);
  EXPECT_NEAR(dense_of(gcn_normalize(huge))[1], 1, 1e-15);
}

TEST(GcnNormalize, TakesSumsBeyondFloat64) {
  const CsrMatrix large = matrix_of(2, 2, {1e308, 1e308, 1e308, 1e308}, ValueKind::f64);
  for (const double value : dense_of(gcn_normalize(large))) EXPECT_NEAR(value, 0.5, 1e-15);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(
      std::isnan(dense_of(gcn_normalize(matrix_of(2, 2, {inf, 1, 1, 1}, ValueKind::f64)))[0]));
}

TEST(GcnNormalize, RefusesWhatTheKindCannotHold) {
  // Degrees 60000 and 2^-24.
  const CsrMatrix steep = matrix_of(2, 2, {0, 60000, 0, 0x1p-24}, ValueKind::f16);
  try {
    gcn_normalize(steep);
    ADD_FAILURE() << "taken";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "gcn-normalize: expected results within the range of f16, found a larger one from "
              "60000 in row 0, column 1 (counted from 0); a wider --value-kind may hold it");
  }
  EXPECT_THROW(gcn_normalize(matrix_of(2, 2, {0, 1e308, 0, 4.9e-324}, ValueKind::f64)), InputError);
}

TEST(GcnNormalize, CountsWhatBecomesZero) {
  Underflow underflow;
  gcn_normalize(matrix_of(2, 2, {0, 0, 60000, 1}, ValueKind::f16), &underflow);
  EXPECT_EQ(underflow.count, 0);
  gcn_normalize(matrix_of(2, 2, {60000, 0x1p-24, 60000, 1}, ValueKind::f16), &underflow);
  EXPECT_EQ(underflow.count, 1);
  EXPECT_EQ(underflow.first, "from 5.96046e-08 in row 0, column 1 (counted from 0)");
}

TEST(GcnNormalize, RefusesRectangularAndTakesEmpty) {
  EXPECT_THROW(gcn_normalize(matrix_of(2, 1, {1, 1}, ValueKind::f32)), UsageError);
  EXPECT_EQ(gcn_normalize(CsrMatrix()).value_kind(), ValueKind::f32);
}

}  // namespace
}  // namespace csrkit

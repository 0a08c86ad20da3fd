#include "core/judge/solution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/cpu/solve/systems.h"

namespace csrkit {
namespace {

SolveProblem problem_of(const CsrMatrix& a, bool is_dense) {
  SolveProblem problem;
  problem.a = a;
  if (is_dense) problem.dense = densified(a, ValueKind::f64);
  return problem;
}

/// What require_solvable says; "" if nothing.
std::string obstacle_of(const SolveProblem& problem, int threads = 0) {
  try {
    require_solvable(problem, "a.csr", threads);
  } catch (const InputError& error) {
    return std::string("input: ") + error.what();
  } catch (const VerifyError& error) {
    return std::string("verify: ") + error.what();
  }
  return {};
}

TEST(Solution, SymmetricMatricesHaveNoObstacle) {
  for (const bool is_dense : {false, true}) {
    for (const Index size : {0, 1, 9, 12}) {
      EXPECT_EQ(obstacle_of(problem_of(grid_laplacian(size, size), is_dense)), "");
    }
  }
}

TEST(Solution, AnOtherValueOrPlaceIsNamed) {
  for (const bool is_dense : {false, true}) {
    const auto with = [&](Index row, Index col, double value) {
      return obstacle_of(problem_of(matrix_of(100,
                                              [=](Index i, Index j) {
                                                if (i == row && j == col) return value;
                                                return i == j ? 4.0 : i + j == 99 ? 1.0 : 0.0;
                                              }),
                                    is_dense),
                         2);
    };
    EXPECT_NE(with(70, 29, 2).find("row 29, column 70"), std::string::npos) << with(70, 29, 2);
    EXPECT_NE(with(70, 3, 2).find("row 3, column 70 holds 0"), std::string::npos);
    EXPECT_NE(with(70, 3, 2).find("row 70, column 3 holds 2"), std::string::npos);
    EXPECT_NE(with(99, 3, 2).find("row 3, column 99 holds 0"), std::string::npos);
    EXPECT_NE(with(3, 99, 2).find("row 99, column 3 holds 0"), std::string::npos);
    EXPECT_NE(with(5, 0, 2).find("that: row 0, column 5 holds 0"), std::string::npos);
    EXPECT_NE(with(5, 7, NAN).find("row 5, column 7"), std::string::npos);
    EXPECT_EQ(with(70, 29, 1 + 4e-16), "") << "a rounding";
    EXPECT_NE(with(70, 29, 1 + 1e-12), "");
    EXPECT_EQ(with(70, 29, 1 - 16 * 0x1p-53), "");
    EXPECT_NE(with(70, 29, 1 - 17 * 0x1p-53), "");
    EXPECT_NE(with(99, 99, NAN).find("row 99, column 99"), std::string::npos);
    EXPECT_EQ(with(5, 5, NAN),
              "input: a.csr: expected finite values, found nan in row 5, column 5 (counted from "
              "0); correct the file that the matrix comes from");
    const std::string here = "row 3, column 70 holds 2", there = "row 70, column 3 holds 0";
    EXPECT_EQ(with(3, 70, 2),
              "verify: a.csr: A is not symmetric, and conjugate gradients need that: " +
                  (is_dense ? there + ", " + here : here + ", " + there) + " (counted from 0); " +
                  (is_dense ? "store both triangles, or solve with (A + A.T) / 2 if that is meant"
                            : "csr-import --symmetrize mirrors entries that are stored on one side "
                              "only"));
    EXPECT_NE(with(5, 5, INFINITY).find("row 5, column 5"), std::string::npos);
    // Values that differ far behind the point do not look the same; nothing is there to mirror.
    const std::string one = "row 29, column 70 holds 1", other = "row 70, column 29 holds ";
    EXPECT_EQ(with(70, 29, 1 + 0x1p-40),
              "verify: a.csr: A is not symmetric, and conjugate gradients need that: " +
                  (is_dense ? other + "1.0000000000009095, " + one
                            : one + ", " + other + "1.0000000000009095") +
                  " (counted from 0); " + (is_dense ? "store both triangles, or " : "") +
                  "solve with (A + A.T) / 2 if that is meant");
  }
}

TEST(Solution, AStoredZeroEqualsAPlaceWithoutEntry) {
  // As where boundary conditions set entries of a row to 0 and remove those of its column.
  constexpr double kZeroInF32 = 1e-60;
  const auto obstacle = [](double value) {
    const auto element = [=](Index i, Index j) {
      if (i == j) return 4.0;
      return i == 0 || (i == 3 && j == 1) ? kZeroInF32 : i == 2 && j == 1 ? value : 0.0;
    };
    return obstacle_of(problem_of(matrix_of(4, element, ValueKind::f32), false));
  };
  EXPECT_EQ(obstacle(0), "");
  EXPECT_NE(obstacle(2).find("that: row 1, column 2 holds 0, row 2, column 1 holds 2"),
            std::string::npos);
}

TEST(Solution, SizesAndPlacesAtTheEdgesOfRowsAndTiles) {
  for (const bool is_dense : {false, true}) {
    const auto obstacle = [&](Index rows, Index row, Index col) {
      return obstacle_of(problem_of(
          matrix_of(rows, [=](Index i, Index j) { return i == row && j == col ? 5.0 : 0.0; }),
          is_dense));
    };
    EXPECT_NE(obstacle(3, 1, 2).find("row 1, column 2"), std::string::npos);
    EXPECT_NE(obstacle(3, 2, 1).find("row 1, column 2"), std::string::npos);
    EXPECT_NE(obstacle(65, 64, 0), "");
    EXPECT_NE(obstacle(65, 0, 64), "");
    // Roundings are measured by what they belong to.
    const auto large = [](Index i, Index j) {
      return i == j ? 4.0 : i < j ? 1024.0 : 1024 + 0x1p-42;
    };
    EXPECT_EQ(obstacle_of(problem_of(matrix_of(2, large), is_dense)), "");
    const auto small = [](Index i, Index j) {
      return i == j ? 4.0 : i < j ? 0x1p-10 : 0x1p-10 + 0x1p-55;
    };
    EXPECT_NE(obstacle_of(problem_of(matrix_of(2, small), is_dense)), "");
  }
  SolveProblem rectangle;
  rectangle.a = CsrMatrix(1, 2, Buffer<Offset>(2), Buffer<Index>(0), ValueArray(ValueKind::f64, 0));
  EXPECT_THROW(obstacle_of(rectangle), UsageError);
}

TEST(Solution, ValuesMustFitThePrecision) {
  for (const bool is_dense : {false, true}) {
    SolveProblem problem = problem_of(
        matrix_of(70, [](Index i, Index j) { return i != j    ? 0.0
                                                    : i == 66 ? -1e39
                                                              : 1.0; }),
        is_dense);
    EXPECT_EQ(obstacle_of(problem), "");
    for (const Precision precision : {Precision::f32, Precision::refined}) {
      problem.precision = precision;
      EXPECT_EQ(obstacle_of(problem),
                "input: a.csr: expected values that f32 can hold, found -1e+39 in row 66, column "
                "66 (counted from 0); use --precision f64");
    }
  }
}

// In f32 the matrix would be singular, and the solver would say so of A.
TEST(Solution, TheDiagonalMustNotVanishInThePrecision) {
  for (const bool is_dense : {false, true}) {
    const auto obstacle = [&](double diagonal, double beside, Precision precision) {
      SolveProblem problem = problem_of(
          matrix_of(70,
                    [=](Index i, Index j) {
                      return i != j ? i + j == 69 ? beside : 0.0 : i == 66 ? diagonal : 1.0;
                    }),
          is_dense);
      problem.precision = precision;
      return obstacle_of(problem);
    };
    EXPECT_EQ(obstacle(1e-200, 0, Precision::f64), "");
    for (const Precision precision : {Precision::f32, Precision::refined}) {
      for (const double diagonal : {1e-200, -1.39e-45}) {
        EXPECT_NE(obstacle(diagonal, 0, precision).find("that f32 can hold, found"),
                  std::string::npos);
        EXPECT_NE(obstacle(diagonal, 0, precision).find("in row 66, column 66"), std::string::npos);
      }
      EXPECT_EQ(obstacle(1.41e-45, 1e-200, precision), "");
      EXPECT_EQ(obstacle(0, 1e-200, precision), "") << "the solver says what a 0 means";
    }
  }
}

TEST(Solution, ResidualsAndTheirRounding) {
  for (const bool is_dense : {false, true}) {
    const SolveProblem problem = problem_of(grid_laplacian(2, 1), is_dense);
    DenseMatrix b(2, 2, ValueKind::f64), x(2, 2, ValueKind::f64);
    for (Index i = 0; i < 2; ++i) {
      for (Index j = 0; j < 2; ++j) {
        b.view().set(i, j, 3);
        x.view().set(i, j, j == 0 ? 1 : 0);  // A (1, 1) = (3, 3)
      }
    }
    const std::vector<Residual> residuals =
        residuals_of(problem, std::as_const(b).view(), std::as_const(x).view());
    ASSERT_EQ(residuals.size(), 2u);
    EXPECT_EQ(residuals[0].norm, 0);
    EXPECT_NEAR(residuals[1].norm, 3 * std::sqrt(2.0), 1e-15);
    // Three roundings of 3, 4 and 1, and of 3 alone, in both rows.
    EXPECT_NEAR(residuals[0].rounding, std::sqrt(2.0) * 3 * 8 * 0x1p-53, 1e-30);
    EXPECT_NEAR(residuals[1].rounding, std::sqrt(2.0) * 3 * 3 * 0x1p-53, 1e-30);
  }
}

}  // namespace
}  // namespace csrkit

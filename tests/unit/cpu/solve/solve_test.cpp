// Every solver and product: known solutions, and everything that cannot be solved, by its name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/judge/solution.h"
#include "cpu/common/kernels.h"
#include "tests/unit/cpu/solve/systems.h"

namespace csrkit::cpu {
namespace {

struct Solved {
  SolveReport report;
  DenseMatrix x;
};

Solved solve(const SolveProblem& problem, const DenseMatrix& b, const char* kernel = "cg",
             const PlanOptions& options = {}) {
  Solved solved;
  solved.x = DenseMatrix(problem.rows(), problem.right_hand_sides, problem.vector_kind());
  fill_nan(solved.x.view());
  const auto solver = find_kernel(solve_kernels(), kernel).make_plan(problem, options);
  solver->bind(b.view(), solved.x.view());
  solver->multiply();
  solver->fetch_output();
  solved.report = solver->report();
  return solved;
}

SolveProblem problem_of(const CsrMatrix& a, Index right_hand_sides = 1) {
  SolveProblem problem;
  problem.a = a;
  problem.right_hand_sides = right_hand_sides;
  return problem;
}

DenseMatrix random_vectors(Index rows, Index cols) {
  DenseMatrix x(rows, cols, ValueKind::f64);
  fill_random(x.view(), 3);
  return x;
}

DenseMatrix ones(Index rows, Index cols, ValueKind kind = ValueKind::f64) {
  DenseMatrix b(rows, cols, kind);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) b.view().set(i, j, 1);
  }
  return b;
}

void expect_solved(const SolveProblem& problem, const DenseMatrix& b, const Solved& solved) {
  EXPECT_EQ(failure_of(solved.report), "");
  const std::vector<Residual> residuals =
      residuals_of(problem, b.view(), std::as_const(solved.x).view());
  for (std::size_t j = 0; j < residuals.size(); ++j) {
    const ColumnReport& column = solved.report.columns[j];
    EXPECT_LE(residuals[j].norm, column.target_norm + 2 * residuals[j].rounding);
    EXPECT_NEAR(residuals[j].norm, column.true_norm, 2 * residuals[j].rounding + 1e-300);
  }
}

TEST(Solve, FindsKnownSolutionsInEveryKindAndShape) {
  for (const Index rows : {1, 2, 7, 33, 1023, 1025, 2500}) {
    const CsrMatrix a = grid_laplacian(rows, 1);
    for (const Index columns : {1, 3}) {
      for (const Precision precision : {Precision::f64, Precision::f32, Precision::refined}) {
        SolveProblem problem = problem_of(a, columns);
        problem.precision = precision;
        problem.relative_tolerance = precision == Precision::f32 ? 1e-5 : 1e-10;
        const DenseMatrix x = random_vectors(rows, columns);
        const DenseMatrix b = right_hand_sides(problem, x);
        const Solved solved = solve(problem, b);
        SCOPED_TRACE(std::to_string(rows) + " rows, " + name_of(precision));
        expect_solved(problem, b, solved);
        for (Index i = 0; i < rows; ++i) {
          const double tolerance = precision == Precision::f32 ? 1e-3 : 1e-8;
          EXPECT_NEAR(std::as_const(solved.x).view().at(i, columns - 1),
                      x.view().at(i, columns - 1), tolerance);
        }
      }
    }
  }
}

TEST(Solve, TakesAsManyIterationsAsTheTextbook) {
  const CsrMatrix a = grid_laplacian(40, 31);
  PlanOptions options;
  options.deterministic = false;  // a vendor's row may be in the table
  for (const PreconditionerKind kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
    SolveProblem problem = problem_of(a);
    problem.preconditioner.kind = kind;
    const DenseMatrix b = ones(a.rows(), 1);
    const Solved textbook = solve(problem, b, "reference");
    for (const Kernel<Solve>& kernel : solve_kernels()) {
      SCOPED_TRACE(kernel.name);
      const Solved solved = solve(problem, b, kernel.name, options);
      expect_solved(problem, b, solved);
      EXPECT_NEAR(static_cast<double>(solved.report.iterations),
                  static_cast<double>(textbook.report.iterations), 1);
      EXPECT_EQ(solved.report.history.size(),
                static_cast<std::size_t>(solved.report.iterations) + 1);
    }
  }
}

TEST(Solve, HasTheSameBitsForAnyNumberOfThreads) {
  const CsrMatrix a = grid_laplacian(61, 53);
  for (const PreconditionerKind kind :
       {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi,
        PreconditionerKind::chebyshev}) {
    for (const bool is_dense : {false, true}) {
      SolveProblem problem = problem_of(is_dense ? grid_laplacian(19, 23) : a, 2);
      if (is_dense) problem.dense = densified(problem.a, ValueKind::f64);
      problem.preconditioner = {kind, uniform_blocks(problem.rows(), 10), 3};
      problem.iteration_limit = 25;  // the bits of the way are those of the end
      const DenseMatrix b = right_hand_sides(problem, random_vectors(problem.rows(), 2));
      std::vector<DenseMatrix> found;
      for (const int threads : {1, 2, 3, 7}) {
        PlanOptions options;
        options.where.threads = threads;
        found.push_back(std::move(solve(problem, b, "cg", options).x));
      }
      for (const DenseMatrix& x : found) {
        EXPECT_EQ(
            std::memcmp(x.view().data, std::as_const(found.front()).view().data, x.size_bytes()), 0)
            << name_of(kind);
      }
    }
  }
}

TEST(Solve, PreconditionersCutIterations) {
  const CsrMatrix a = badly_scaled(600, 1e8);
  SolveProblem problem = problem_of(a);
  problem.iteration_limit = 100000;
  const DenseMatrix b = right_hand_sides(problem, random_vectors(a.rows(), 1));
  const Offset plain = solve(problem, b).report.iterations;
  problem.preconditioner.kind = PreconditionerKind::jacobi;
  const Solved jacobi = solve(problem, b);
  expect_solved(problem, b, jacobi);
  EXPECT_LT(jacobi.report.iterations, plain / 4);
  problem.preconditioner = {PreconditionerKind::block_jacobi, uniform_blocks(a.rows(), 50), 0};
  const Solved blocks = solve(problem, b);
  expect_solved(problem, b, blocks);
  EXPECT_LT(blocks.report.iterations, jacobi.report.iterations);
  problem.preconditioner = {PreconditionerKind::chebyshev, {}, 3};
  const Solved polynomial = solve(problem, b);
  expect_solved(problem, b, polynomial);
  EXPECT_LT(polynomial.report.iterations, jacobi.report.iterations / 2);
  EXPECT_GT(polynomial.report.highest_eigenvalue, 1);
}

TEST(Solve, OneBlockOfAllRowsIsTheInverse) {
  const CsrMatrix a = grid_laplacian(8, 7);
  SolveProblem problem = problem_of(a);
  problem.preconditioner = {PreconditionerKind::block_jacobi, uniform_blocks(56, 56), 0};
  EXPECT_LE(solve(problem, ones(56, 1)).report.iterations, 2);
}

TEST(Solve, BlocksMayHoldAnyRows) {
  const CsrMatrix a = grid_laplacian(9, 9);
  SolveProblem problem = problem_of(a, 2);
  auto block_of_row = std::make_shared<Buffer<Index>>(81);
  for (Index i = 0; i < 81; ++i) (*block_of_row)[i] = (i * 5) % 4;  // and block 4 is empty
  problem.preconditioner = {PreconditionerKind::block_jacobi, {5, block_of_row}, 0};
  const DenseMatrix b = ones(81, 2);
  expect_solved(problem, b, solve(problem, b));
}

TEST(Solve, DenseSystemsWithEveryProduct) {
  for (const Index rows : {1, 5, 64, 131}) {
    const CsrMatrix a = grid_laplacian(rows, 1);
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      for (const char* product : {"", "rows", "half", "packed"}) {
        for (const Index columns : {1, 2}) {
          SolveProblem problem = problem_of({}, columns);
          problem.dense = densified(a, kind);
          problem.precision = columns == 2 ? Precision::refined : Precision::f64;
          const DenseMatrix b = right_hand_sides(problem, random_vectors(rows, columns));
          PlanOptions options;
          options.variant = product;
          SCOPED_TRACE(product);
          expect_solved(problem, b, solve(problem, b, "cg", options));
        }
      }
    }
  }
}

TEST(Solve, ProductsAreChosenByName) {
  SolveProblem problem = problem_of(grid_laplacian(4, 4));
  PlanOptions options;
  options.variant = "no_such";
  EXPECT_THROW(solve(problem, ones(16, 1), "cg", options), UsageError);
  EXPECT_THROW(solve(problem, ones(16, 1), "reference", options), UsageError);
  for (const std::string& name : find_kernel(solve_kernels(), "cg").variants(problem)) {
    options.variant = name;
    const DenseMatrix b = ones(16, 1);
    expect_solved(problem, b, solve(problem, b, "cg", options));
  }
}

TEST(Solve, NothingToDo) {
  const DenseMatrix none(0, 1, ValueKind::f64);
  for (const char* kernel : {"cg", "reference"}) {
    EXPECT_TRUE(solve(problem_of(grid_laplacian(0, 0)), none, kernel).report.is_solved());
    // b = 0 is solved by 0, whatever the guess.
    SolveProblem problem = problem_of(grid_laplacian(3, 3), 2);
    problem.has_guess = true;
    DenseMatrix b = ones(9, 2), x = ones(9, 2);
    for (Index i = 0; i < 9; ++i) b.view().set(i, 1, 0);
    const auto solver = find_kernel(solve_kernels(), kernel).make_plan(problem, {});
    solver->bind(std::as_const(b).view(), x.view());
    solver->multiply();
    EXPECT_TRUE(solver->report().is_solved());
    for (Index i = 0; i < 9; ++i) EXPECT_EQ(std::as_const(x).view().at(i, 1), 0);
    EXPECT_EQ(solver->report().columns[1].iterations, 0);
  }
}

TEST(Solve, AGuessThatIsTheSolutionTakesNoIteration) {
  SolveProblem problem = problem_of(grid_laplacian(5, 6));
  problem.has_guess = true;
  DenseMatrix x = random_vectors(30, 1);
  const DenseMatrix b = right_hand_sides(problem, x);
  const auto solver = find_kernel(solve_kernels(), "cg").make_plan(problem, {});
  solver->bind(b.view(), x.view());
  solver->multiply();
  EXPECT_EQ(solver->report().iterations, 0);
  EXPECT_TRUE(solver->report().is_solved());
}

TEST(Solve, ViewsWithGaps) {
  SolveProblem problem = problem_of(grid_laplacian(6, 6), 2);
  DenseMatrix b(36, 2, ValueKind::f64, 5), x(36, 2, ValueKind::f64, 3);
  fill_nan(b.view());
  fill_nan(x.view());
  for (Index i = 0; i < 36; ++i) {
    for (Index j = 0; j < 2; ++j) b.view().set(i, j, i + j);
  }
  const auto solver = find_kernel(solve_kernels(), "cg").make_plan(problem, {});
  solver->bind(std::as_const(b).view(), x.view());
  solver->multiply();
  EXPECT_TRUE(solver->report().is_solved());
  EXPECT_TRUE(std::isnan(x.view().as<double>()[2]));
  const Residual residual =
      residuals_of(problem, std::as_const(b).view(), std::as_const(x).view())[1];
  EXPECT_LE(residual.norm, 1e-7);
}

TEST(Solve, IsolatedRowsAndImplicitOnes) {
  // A diagonal of ones without stored values, and rows that know only themselves.
  Buffer<Offset> offsets(6);
  Buffer<Index> cols(5);
  for (Index i = 0; i < 6; ++i) offsets[i] = i;
  for (Index i = 0; i < 5; ++i) cols[i] = i;
  const CsrMatrix ones_only(5, 5, std::move(offsets), std::move(cols),
                            ValueArray(ValueKind::none, 0));
  for (const CsrMatrix& a :
       {ones_only, matrix_of(9, [](Index i, Index j) { return i == j ? i + 1.0 : 0.0; })}) {
    const DenseMatrix b = ones(a.rows(), 1);
    expect_solved(problem_of(a), b, solve(problem_of(a), b));
  }
}

TEST(Solve, NamesWhatCannotBeSolved) {
  const auto status_of = [](const CsrMatrix& a, const DenseMatrix& b, const char* kernel,
                            Offset limit = 0) {
    SolveProblem problem = problem_of(a);
    problem.iteration_limit = limit;
    return solve(problem, b, kernel).report.columns[0].status;
  };
  const CsrMatrix indefinite = matrix_of(40, [](Index i, Index j) {
    return i == j ? (i == 20 ? -3.0 : 3.0) : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  const CsrMatrix zero = matrix_of(3, [](Index i, Index j) { return i == j && i < 2 ? 1.0 : 0.0; });
  DenseMatrix outside = ones(3, 1);  // the last equation is 0 = 1
  outside.view().set(0, 0, 0);
  outside.view().set(1, 0, 0);
  DenseMatrix with_nan = ones(9, 1);
  with_nan.view().set(4, 0, NAN);
  const CsrMatrix nan_matrix =
      matrix_of(4, [](Index i, Index j) { return i == j ? (i == 2 ? NAN : 2.0) : 0.0; });
  for (const char* kernel : {"cg", "reference"}) {
    EXPECT_EQ(status_of(indefinite, ones(40, 1), kernel), SolveStatus::indefinite);
    EXPECT_EQ(status_of(zero, outside, kernel), SolveStatus::breakdown);
    EXPECT_EQ(status_of(grid_laplacian(3, 3), with_nan, kernel), SolveStatus::not_finite);
    EXPECT_EQ(status_of(nan_matrix, ones(4, 1), kernel), SolveStatus::not_finite);
    EXPECT_EQ(status_of(grid_laplacian(30, 30), ones(900, 1), kernel, 5),
              SolveStatus::iteration_limit);
  }
}

TEST(Solve, SaysThatRoundingIsInTheWay) {
  SolveProblem problem = problem_of(grid_laplacian(20, 15));
  problem.relative_tolerance = 1e-17;
  const Solved solved = solve(problem, ones(300, 1));
  EXPECT_EQ(solved.report.columns[0].status, SolveStatus::stagnated);
  EXPECT_NE(failure_of(solved.report).find("rounding"), std::string::npos);
}

TEST(Solve, StartsAgainFromTheTrueResidual) {
  SolveProblem problem = problem_of(badly_scaled(50, 1e6));
  problem.iteration_limit = 10000;
  const DenseMatrix b = ones(50, 1);
  for (const char* kernel : {"cg", "reference"}) {
    int helped = 0, stagnated = 0;
    for (double tolerance = 1e-12; tolerance > 1e-16; tolerance /= 1.5) {
      problem.relative_tolerance = tolerance;
      const Solved solved = solve(problem, b, kernel);
      const ColumnReport& column = solved.report.columns[0];
      const std::vector<double>& history = solved.report.history;
      const bool started_again = std::count_if(history.begin(), history.end(), [&](double norm) {
                                   return norm <= column.target_norm;
                                 }) > 1;
      if (column.status == SolveStatus::converged) {
        EXPECT_LE(column.true_norm, column.target_norm) << kernel << " " << tolerance;
        helped += started_again;
      } else {
        EXPECT_EQ(column.status, SolveStatus::stagnated) << kernel << " " << tolerance;
        ++stagnated;
      }
    }
    EXPECT_GT(helped, 0) << kernel;
    EXPECT_GT(stagnated, 0) << kernel;
  }
}

TEST(Solve, KeepsTheBestIterate) {
  // The norm rises and falls on the way; wherever it stops, x is the best there was.
  SolveProblem problem = problem_of(badly_scaled(400, 1e6));
  const DenseMatrix b = ones(400, 1);
  for (Offset limit = 1; limit < 40; limit += 3) {
    problem.iteration_limit = limit;
    const Solved solved = solve(problem, b);
    const std::vector<double>& history = solved.report.history;
    const double best = *std::min_element(history.begin(), history.end());
    EXPECT_NEAR(solved.report.columns[0].true_norm, best, 1e-6 * best);
    EXPECT_NEAR(residuals_of(problem, b.view(), std::as_const(solved.x).view())[0].norm, best,
                1e-6 * best);
  }
}

TEST(Solve, OneColumnThatFailsLeavesTheOthersAlone) {
  SolveProblem problem = problem_of(grid_laplacian(10, 10), 3);
  DenseMatrix b = ones(100, 3);
  b.view().set(5, 1, NAN);
  const Solved solved = solve(problem, b);
  EXPECT_EQ(solved.report.columns[0].status, SolveStatus::converged);
  EXPECT_EQ(solved.report.columns[1].status, SolveStatus::not_finite);
  EXPECT_EQ(solved.report.columns[2].status, SolveStatus::converged);
}

TEST(Solve, JacobiNeedsAPositiveDiagonal) {
  SolveProblem problem =
      problem_of(matrix_of(4, [](Index i, Index j) { return i == j ? i - 1.0 : 0.0; }));
  for (const PreconditionerKind kind :
       {PreconditionerKind::jacobi, PreconditionerKind::block_jacobi,
        PreconditionerKind::chebyshev}) {
    problem.preconditioner = {kind, uniform_blocks(4, 2), 2};
    EXPECT_THROW(solve(problem, ones(4, 1)), VerifyError);
  }
}

TEST(Solve, RefusesWhatDoesNotFit) {
  SolveProblem problem = problem_of(grid_laplacian(50, 50));
  PlanOptions options;
  options.memory_limit_bytes = 1000;
  EXPECT_THROW(solve(problem, ones(2500, 1), "cg", options), MemoryError);
  EXPECT_THROW(solve(problem, ones(2500, 2)), UsageError);
}

}  // namespace
}  // namespace csrkit::cpu

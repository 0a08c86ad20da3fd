// Every solver on the device: known solutions, the textbook's iterations, the same bits every time,
// and everything that cannot be solved, by its name.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/judge/solution.h"
#include "cpu/common/kernels.h"
#include "gpu/device/grid.h"
#include "gpu/plan/kernels.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/unit/cpu/solve/systems.h"

namespace csrkit::gpu {
namespace {

struct Solved {
  SolveReport report;
  DenseMatrix x;
};

class GpuSolve : public testing::GpuKernelTest {
 protected:
  const Kernel<Solve>& kernel() const { return find_kernel(solve_kernels(), GetParam()); }

  bool can(const SolveProblem& problem) const { return kernel().can(needed_for(problem)); }

  Solved solve(const SolveProblem& problem, const DenseMatrix& b) const {
    Solved solved;
    solved.x = DenseMatrix(problem.rows(), problem.right_hand_sides, problem.vector_kind());
    fill_nan(solved.x.view());
    PlanOptions options;
    options.deterministic = kernel().can(kDeterministic);
    const auto solver = kernel().make_plan(problem, options);
    solver->bind(b.view(), solved.x.view());
    solver->multiply();
    solver->fetch_output();
    solved.report = solver->report();
    return solved;
  }

  void expect_solved(const SolveProblem& problem, const DenseMatrix& b) const {
    const Solved solved = solve(problem, b);
    EXPECT_EQ(failure_of(solved.report), "");
    const std::vector<Residual> residuals =
        residuals_of(problem, b.view(), std::as_const(solved.x).view());
    for (std::size_t j = 0; j < residuals.size(); ++j) {
      const ColumnReport& column = solved.report.columns[j];
      EXPECT_LE(residuals[j].norm, column.target_norm + 2 * residuals[j].rounding);
    }
  }
};

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

DenseMatrix ones(Index rows, Index cols) {
  DenseMatrix b(rows, cols, ValueKind::f64);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) b.view().set(i, j, 1);
  }
  return b;
}

TEST(GpuSolveColumns, MoreThanAGridHasRowsAreRefusedWithoutADevice) {
  const SolveProblem problem = problem_of(grid_laplacian(2, 1), kMaxGridY + 1);
  int refusals = 0;
  for (const Kernel<Solve>& kernel : solve_kernels()) {
    if (!kernel.can(needed_for(problem))) continue;
    PlanOptions options;
    options.deterministic = kernel.can(kDeterministic);
    try {
      kernel.make_plan(problem, options);
      ADD_FAILURE() << kernel.name << " takes " << problem.right_hand_sides << " right-hand sides";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("65535 right-hand sides"), std::string::npos)
          << kernel.name << ": " << error.what();
      ++refusals;
    }
  }
  EXPECT_GT(refusals, 1);
}

TEST_P(GpuSolve, FindsKnownSolutionsInEveryKindAndShape) {
  for (const auto& [nx, ny] : {std::pair<Index, Index>{1, 1}, {3, 1}, {33, 7}, {257, 61}}) {
    for (const Index columns : {1, 3}) {
      for (const Precision precision : {Precision::f64, Precision::f32, Precision::refined}) {
        SolveProblem problem = problem_of(grid_laplacian(nx, ny), columns);
        problem.precision = precision;
        problem.relative_tolerance = precision == Precision::f32 ? 1e-4 : 1e-10;
        if (!can(problem)) continue;
        SCOPED_TRACE(std::to_string(nx * ny) + " rows, " + name_of(precision));
        expect_solved(problem, right_hand_sides(problem, random_vectors(nx * ny, columns)));
      }
    }
  }
}

TEST_P(GpuSolve, SolvesDenseSystemsOfEveryKind) {
  for (const auto& [nx, ny] : {std::pair<Index, Index>{1, 1}, {2, 1}, {13, 11}, {31, 17}}) {
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      for (const Index columns : {1, 3}) {
        for (const Precision precision : {Precision::f64, Precision::f32, Precision::refined}) {
          SolveProblem problem = problem_of({}, columns);
          problem.dense = densified(grid_laplacian(nx, ny), kind);
          problem.precision = precision;
          problem.relative_tolerance = precision == Precision::f32 ? 1e-4 : 1e-10;
          problem.preconditioner.kind =
              columns == 1 ? PreconditionerKind::jacobi : PreconditionerKind::none;
          if (!can(problem)) continue;
          SCOPED_TRACE(std::to_string(nx * ny) + " rows, " + name_of(precision));
          expect_solved(problem, right_hand_sides(problem, random_vectors(nx * ny, columns)));
        }
      }
    }
  }
}

/// Isolated rows, a row with an entry in every column, rows of nothing but the diagonal.
CsrMatrix arrow(Index rows) {
  return matrix_of(rows, [=](Index i, Index j) {
    if (i == j) return i == 0 ? static_cast<double>(rows) : 2.0;
    return (i == 0 || j == 0) && (i + j) % 7 != 0 ? -1.0 : 0.0;
  });
}

TEST_P(GpuSolve, SolvesIrregularAndIllConditionedSystems) {
  for (const Index rows : {2, 129, 1031}) {
    const SolveProblem problem = problem_of(arrow(rows));
    expect_solved(problem, right_hand_sides(problem, random_vectors(rows, 1)));
  }
  SolveProblem hard = problem_of(badly_scaled(300, 1e8));
  hard.preconditioner.kind = PreconditionerKind::jacobi;
  expect_solved(hard, right_hand_sides(hard, random_vectors(300, 1)));
}

/// Solved within some twenty iterations: a strong diagonal, and neighbours at 1 and at `far`.
CsrMatrix strong_diagonal(Index rows, Index far) {
  std::vector<Offset> offsets{0};
  std::vector<Index> cols;
  std::vector<double> values;
  for (Index i = 0; i < rows; ++i) {
    for (const Index j : {i - far, i - 1, i, i + 1, i + far}) {
      if (j < 0 || j >= rows) continue;
      cols.push_back(j);
      values.push_back(j == i ? 5 + i % 4 : -1);
    }
    offsets.push_back(static_cast<Offset>(cols.size()));
  }
  return CsrMatrix(
      rows, rows, Buffer<Offset>::copy_of(offsets.data(), rows + 1),
      Buffer<Index>::copy_of(cols.data(), static_cast<Offset>(cols.size())),
      ValueArray::from(Buffer<double>::copy_of(values.data(), static_cast<Offset>(values.size()))));
}

/// Beyond 135,168 rows a thread of a cooperative kernel on 132 multiprocessors has more than one
/// row; beyond 1,048,576 a block of the passes over vectors has more than one stretch of rows.
TEST_P(GpuSolve, SolvesSystemsOfMoreRowsThanAGridHolds) {
  for (const Index rows : {135169, 1048583}) {
    const CsrMatrix a = strong_diagonal(rows, 521);
    for (const Index columns : {1, 3}) {
      const DenseMatrix x = random_vectors(rows, columns);
      for (const Precision precision : {Precision::f64, Precision::refined}) {
        for (const PreconditionerKind kind :
             {PreconditionerKind::none, PreconditionerKind::jacobi}) {
          SolveProblem problem = problem_of(a, columns);
          problem.precision = precision;
          problem.relative_tolerance = 1e-10;
          problem.preconditioner.kind = kind;
          if (!can(problem)) continue;
          SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(columns) + " columns, " +
                       name_of(precision) + ", " + name_of(kind));
          const DenseMatrix b = right_hand_sides(problem, x);
          if (GetParam() == "persistent" && rows > 1000000 && precision == Precision::f64) {
            EXPECT_THROW(solve(problem, b), UsageError);  // more than shared memory holds
          } else {
            expect_solved(problem, b);
          }
        }
      }
    }
  }
}

TEST_P(GpuSolve, TakesAsManyIterationsWithEveryPreconditionerAsTheory) {
  const CsrMatrix a = badly_scaled(900, 1e6);
  const DenseMatrix b = ones(900, 1);
  Offset jacobi = 0;
  for (const PreconditionerKind kind :
       {PreconditionerKind::jacobi, PreconditionerKind::block_jacobi,
        PreconditionerKind::chebyshev}) {
    SolveProblem problem = problem_of(a);
    problem.preconditioner = {kind, uniform_blocks(900, 30), 3};
    if (!can(problem)) continue;
    expect_solved(problem, b);
    const Offset iterations = solve(problem, b).report.iterations;
    if (kind == PreconditionerKind::jacobi) jacobi = iterations;
    EXPECT_LE(iterations, jacobi) << name_of(kind);
  }
}

TEST_P(GpuSolve, HasAHistoryOfEveryIterationAndTheSameBitsEveryTime) {
  const SolveProblem problem = problem_of(grid_laplacian(90, 71));
  const DenseMatrix b = ones(problem.rows(), 1);
  const Solved first = solve(problem, b), second = solve(problem, b);
  ASSERT_EQ(first.report.history.size(), static_cast<std::size_t>(first.report.iterations) + 1);
  if (kernel().can(kDeterministic)) {
    EXPECT_EQ(first.report.history, second.report.history);
    EXPECT_EQ(std::memcmp(first.x.view().data, second.x.view().data, first.x.size_bytes()), 0);
  }
  EXPECT_LE(first.report.history.back(), first.report.columns[0].target_norm);
  // The textbook on the host needs as many, give or take rounding.
  DenseMatrix x = random_vectors(problem.rows(), 1);
  const auto textbook = find_kernel(cpu::solve_kernels(), "reference").make_plan(problem, {});
  textbook->bind(b.view(), x.view());
  textbook->multiply();
  EXPECT_NEAR(static_cast<double>(first.report.iterations),
              static_cast<double>(textbook->report().iterations), 2);
}

TEST_P(GpuSolve, ObeysTheLimitAndKeepsTheBestIterate) {
  SolveProblem problem = problem_of(badly_scaled(400, 1e6));
  const DenseMatrix b = ones(400, 1);
  for (const Offset limit : {1, 7, 16, 17, 40}) {
    problem.iteration_limit = limit;
    const Solved solved = solve(problem, b);
    EXPECT_EQ(solved.report.columns[0].status, SolveStatus::iteration_limit);
    EXPECT_EQ(solved.report.iterations, limit);
    const std::vector<double>& history = solved.report.history;
    const double best = *std::min_element(history.begin(), history.end());
    EXPECT_NEAR(residuals_of(problem, b.view(), std::as_const(solved.x).view())[0].norm, best,
                1e-6 * best);
  }
}

TEST_P(GpuSolve, NamesWhatCannotBeSolved) {
  const CsrMatrix indefinite = matrix_of(40, [](Index i, Index j) {
    return i == j ? (i == 20 ? -3.0 : 3.0) : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  EXPECT_EQ(solve(problem_of(indefinite), ones(40, 1)).report.columns[0].status,
            SolveStatus::indefinite);
  const CsrMatrix zero = matrix_of(3, [](Index i, Index j) { return i == j && i < 2 ? 1.0 : 0.0; });
  DenseMatrix outside = ones(3, 1);
  outside.view().set(0, 0, 0);
  outside.view().set(1, 0, 0);
  EXPECT_EQ(solve(problem_of(zero), outside).report.columns[0].status, SolveStatus::breakdown);
  DenseMatrix with_nan = ones(9, 1);
  with_nan.view().set(4, 0, NAN);
  EXPECT_EQ(solve(problem_of(grid_laplacian(3, 3)), with_nan).report.columns[0].status,
            SolveStatus::not_finite);
  SolveProblem unreachable = problem_of(grid_laplacian(20, 15));
  unreachable.relative_tolerance = 1e-17;
  EXPECT_EQ(solve(unreachable, ones(300, 1)).report.columns[0].status, SolveStatus::stagnated);
}

TEST_P(GpuSolve, NothingToDoAndGuesses) {
  EXPECT_TRUE(solve(problem_of(grid_laplacian(0, 0)), DenseMatrix(0, 1, ValueKind::f64))
                  .report.is_solved());
  SolveProblem problem = problem_of(grid_laplacian(5, 6));
  problem.has_guess = true;
  DenseMatrix x = random_vectors(30, 1);
  const DenseMatrix b = right_hand_sides(problem, x);
  PlanOptions options;
  options.deterministic = kernel().can(kDeterministic);
  const auto solver = kernel().make_plan(problem, options);
  solver->bind(b.view(), x.view());
  solver->multiply();
  EXPECT_EQ(solver->report().iterations, 0);
  EXPECT_TRUE(solver->report().is_solved());
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const Kernel<Solve>& row : solve_kernels()) names.push_back(row.name);
  return names;
}

std::string name_of_param(const ::testing::TestParamInfo<std::string>& param) {
  return param.param;
}

INSTANTIATE_TEST_SUITE_P(Table, GpuSolve, ::testing::ValuesIn(solver_names()), name_of_param);

/// Small, for compute-sanitizer: every precision, preconditioner and number of columns once, sparse
/// and dense. Several blocks for those kernels that wait for each other.
class SanitizerGpuSolve : public GpuSolve {};

TEST_P(SanitizerGpuSolve, SmallSystems) {
  for (const Precision precision : {Precision::f64, Precision::f32, Precision::refined}) {
    for (const Index columns : {1, 3}) {
      for (const bool is_dense : {false, true}) {
        const CsrMatrix grid = is_dense ? grid_laplacian(5, 4) : grid_laplacian(21, 13);
        SolveProblem problem = problem_of(is_dense ? CsrMatrix() : grid, columns);
        if (is_dense) problem.dense = densified(grid, ValueKind::f64);
        problem.precision = precision;
        problem.relative_tolerance = 1e-3;
        if (!can(problem)) continue;
        SCOPED_TRACE(name_of(precision) + std::string(is_dense ? ", dense" : ""));
        expect_solved(problem, right_hand_sides(problem, random_vectors(grid.rows(), columns)));
      }
    }
  }
  for (const PreconditionerKind kind :
       {PreconditionerKind::jacobi, PreconditionerKind::block_jacobi,
        PreconditionerKind::chebyshev}) {
    SolveProblem problem = problem_of(badly_scaled(70, 10));
    problem.preconditioner = {kind, uniform_blocks(70, 32), 2};
    if (can(problem)) expect_solved(problem, ones(70, 1));
  }
}

/// A vendor's are not for us to mend.
std::vector<std::string> own_solver_names() {
  std::vector<std::string> names;
  for (const Kernel<Solve>& row : solve_kernels()) {
    if (row.role != Role::vendor) names.push_back(row.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(, SanitizerGpuSolve, ::testing::ValuesIn(own_solver_names()),
                         name_of_param);

}  // namespace
}  // namespace csrkit::gpu

#include "core/contract/solve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/cpu/solve/systems.h"

namespace csrkit {
namespace {

TEST(SolveContract, NamesReadBack) {
  for (const Precision precision : {Precision::f64, Precision::f32, Precision::refined}) {
    EXPECT_EQ(parse_precision(name_of(precision)), precision);
  }
  for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi,
                          PreconditionerKind::block_jacobi, PreconditionerKind::chebyshev}) {
    EXPECT_EQ(parse_preconditioner(name_of(kind)), kind);
  }
  EXPECT_THROW(parse_precision("f16"), UsageError);
  EXPECT_THROW(parse_preconditioner("ilu"), UsageError);
}

TEST(SolveContract, TheDefaultToleranceIsOneThatThePrecisionReaches) {
  EXPECT_EQ(default_tolerance(Precision::f64), SolveProblem().relative_tolerance);
  EXPECT_EQ(default_tolerance(Precision::refined), SolveProblem().relative_tolerance);
  EXPECT_EQ(default_tolerance(Precision::f32), 1e-4);
}

TEST(SolveContract, RefusesWhatNobodyCanSolve) {
  SolveProblem good;
  good.a = grid_laplacian(3, 3);
  EXPECT_NO_THROW(require_legal(good));
  const auto refused = [&](auto&& change) {
    SolveProblem problem = good;
    change(problem);
    EXPECT_THROW(require_legal(problem), UsageError);
  };
  refused([](SolveProblem& p) { p.right_hand_sides = 0; });
  refused([](SolveProblem& p) { p.relative_tolerance = -1; });
  refused([](SolveProblem& p) { p.relative_tolerance = NAN; });
  refused([](SolveProblem& p) { p.relative_tolerance = 0; });
  refused([](SolveProblem& p) { p.iteration_limit = -1; });
  refused([](SolveProblem& p) { p.a = convert_values(p.a, ValueKind::f16); });
  refused([](SolveProblem& p) { p.dense = std::make_shared<DenseMatrix>(2, 3, ValueKind::f64); });
  refused([](SolveProblem& p) { p.preconditioner.kind = PreconditionerKind::block_jacobi; });
  refused([](SolveProblem& p) { p.preconditioner.kind = PreconditionerKind::chebyshev; });
}

TEST(SolveContract, SaysWhatAProblemNeeds) {
  SolveProblem problem;
  problem.a = grid_laplacian(3, 3);
  EXPECT_EQ(needed_for(problem), kF64);
  problem.precision = Precision::refined;
  problem.right_hand_sides = 2;
  problem.preconditioner = {PreconditionerKind::chebyshev, {}, 1};
  EXPECT_EQ(needed_for(problem), kF64 | kRefinement | kManyColumns | kPreconditioners);
  problem.dense = densified(problem.a, ValueKind::f32);
  EXPECT_NE(needed_for(problem) & kDenseSystems, 0u);
  EXPECT_EQ(names_of(kRefinement | kPreconditioners | kDenseSystems, kF64),
            "refinement preconditioners dense-systems");
}

TEST(SolveContract, BlocksCoverAllRows) {
  const RowBlocks blocks = uniform_blocks(10, 4);
  EXPECT_EQ(blocks.blocks, 3);
  EXPECT_EQ((*blocks.block_of_row)[9], 2);
  EXPECT_EQ(uniform_blocks(0, 4).blocks, 0);
  EXPECT_THROW(uniform_blocks(10, 0), UsageError);
}

TEST(SolveContract, FailuresAreSentences) {
  SolveReport report;
  report.columns.resize(2);
  report.columns[0].status = SolveStatus::converged;
  for (const SolveStatus status :
       {SolveStatus::iteration_limit, SolveStatus::stagnated, SolveStatus::indefinite,
        SolveStatus::breakdown, SolveStatus::not_finite}) {
    report.columns[1].status = status;
    EXPECT_FALSE(report.is_solved());
    EXPECT_NE(failure_of(report).find(std::string("right-hand side 1: ") + name_of(status)),
              std::string::npos);
  }
  report.columns[1].status = SolveStatus::converged;
  EXPECT_TRUE(report.is_solved());
  EXPECT_EQ(failure_of(report), "");
}

// Where rounding hides that p'Ap is 0, x grows until it overflows.
TEST(SolveContract, WhatIsNotFiniteMayComeOfASingularMatrix) {
  SolveReport report;
  report.columns.resize(1);
  report.columns[0].status = SolveStatus::not_finite;
  EXPECT_NE(failure_of(report).find("if A is singular, x may grow without end"), std::string::npos);
}

}  // namespace
}  // namespace csrkit

#include "core/contract/spmm.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

CsrMatrix empty_matrix(Index rows, Index cols, ValueKind kind) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  for (Index i = 0; i <= rows; ++i) row_offsets[i] = 0;
  return CsrMatrix(rows, cols, std::move(row_offsets), Buffer<Index>(0), ValueArray(kind, 0));
}

TEST(DefaultSpmmProblem, FollowsTheMatrix) {
  const auto kinds_for = [](ValueKind a) {
    const SpmmProblem problem = default_spmm_problem(empty_matrix(2, 3, a), 4);
    require_legal(problem);
    return std::tuple(problem.b, problem.accumulate, problem.c);
  };
  const ValueKind f32 = ValueKind::f32, f64 = ValueKind::f64, f16 = ValueKind::f16;
  EXPECT_EQ(kinds_for(ValueKind::none), std::tuple(f32, f32, f32));
  EXPECT_EQ(kinds_for(f32), std::tuple(f32, f32, f32));
  EXPECT_EQ(kinds_for(f64), std::tuple(f64, f64, f64));
  EXPECT_EQ(kinds_for(f16), std::tuple(f16, f32, f32));
}

TEST(SetDenseKind, SetsTheSumsAndC) {
  SpmmProblem problem = default_spmm_problem(empty_matrix(2, 3, ValueKind::f32), 4);
  for (const ValueKind kind : {ValueKind::f64, ValueKind::f16, ValueKind::f32}) {
    set_dense_kind(&problem, kind);
    require_legal(problem);
    EXPECT_EQ(problem.b, kind);
    EXPECT_EQ(problem.accumulate, kind == ValueKind::f64 ? kind : ValueKind::f32);
    EXPECT_EQ(problem.c, problem.accumulate);
  }
}

TEST(SpmmProblem, TransposeSwapsTheShapes) {
  SpmmProblem problem = default_spmm_problem(empty_matrix(2, 3, ValueKind::f32), 4);
  EXPECT_EQ(problem.output_rows(), 2);
  EXPECT_EQ(problem.input_rows(), 3);
  problem.transpose_a = true;
  EXPECT_EQ(problem.output_rows(), 3);
  EXPECT_EQ(problem.input_rows(), 2);
}

// Every combination of four kinds: legal exactly where the table of the documentation says so.
TEST(RequireLegal, AcceptsTheTableAndNothingElse) {
  const ValueKind all[] = {ValueKind::none, ValueKind::f32, ValueKind::f64, ValueKind::f16,
                           ValueKind::bf16};
  int legal = 0;
  for (const ValueKind a : all) {
    SpmmProblem problem = default_spmm_problem(empty_matrix(1, 1, a), 1);
    for (const ValueKind b : all) {
      for (const ValueKind c : all) {
        for (const ValueKind accumulate : all) {
          problem.b = b;
          problem.c = c;
          problem.accumulate = accumulate;
          try {
            require_legal(problem);
            ++legal;
            EXPECT_TRUE(a == b || a == ValueKind::none ||
                        (a == ValueKind::f32 && b != ValueKind::none));
            EXPECT_TRUE(c == b || c == accumulate);
          } catch (const UsageError&) {
          }
        }
      }
    }
  }
  // f32 and f64: A or ones; f16 and bf16: A, ones or f32, C wide or narrow; f32 with f64 operands.
  EXPECT_EQ(legal, 17);
}

TEST(RequireLegal, NeedsAColumnAndWideSemirings) {
  SpmmProblem problem = default_spmm_problem(empty_matrix(1, 1, ValueKind::f16), 1);
  problem.semiring = Semiring::min_plus;
  EXPECT_THROW(require_legal(problem), UsageError);
  problem.semiring = Semiring::plus_times;
  for (const Index dense_cols : {0, -1}) {
    problem.dense_cols = dense_cols;
    EXPECT_THROW(require_legal(problem), UsageError);
  }
}

TEST(NeededFor, NamesEachDemand) {
  SpmmProblem problem = default_spmm_problem(empty_matrix(1, 1, ValueKind::none), 1);
  EXPECT_EQ(needed_for(problem), kImplicitOnes | kF32);
  problem.transpose_a = true;
  problem.semiring = Semiring::or_and;
  EXPECT_EQ(needed_for(problem), kImplicitOnes | kF32 | kTranspose | kSemirings);
  problem.dense_cols = 2;
  EXPECT_EQ(needed_for(problem), kImplicitOnes | kF32 | kTranspose | kSemirings | kManyColumns);
  problem.dense_cols = 1;
  problem.a = CsrMatrix::on_device(1, 1, 0, nullptr, nullptr, ValueKind::f32, nullptr, nullptr);
  EXPECT_EQ(needed_for(problem), kF32 | kTranspose | kSemirings | kDeviceMatrix);
}

}  // namespace
}  // namespace csrkit

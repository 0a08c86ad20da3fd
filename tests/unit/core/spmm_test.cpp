#include "core/spmm.h"

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
            EXPECT_TRUE(a == b || a == ValueKind::none);
            EXPECT_TRUE(c == b || c == accumulate);
          } catch (const UsageError&) {
          }
        }
      }
    }
  }
  EXPECT_EQ(legal, 12);  // f32 and f64: A or ones; f16 and bf16: A or ones, C wide or narrow
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
  PlanOptions options;
  EXPECT_EQ(needed_for(problem, options), kImplicitOnes | kF32 | kDeterministic);
  problem.transpose_a = true;
  problem.semiring = Semiring::or_and;
  options.deterministic = false;
  options.where.chunk = 1;
  EXPECT_EQ(needed_for(problem, options),
            kImplicitOnes | kF32 | kTranspose | kSemirings | kSchedule);
}

TEST(RequireBindable, ChecksShapeKindAndLeadingDimension) {
  const SpmmProblem problem = default_spmm_problem(empty_matrix(2, 3, ValueKind::f32), 4);
  DenseMatrix b(3, 4, ValueKind::f32), c(2, 4, ValueKind::f32), wide(2, 4, ValueKind::f32, 9);
  EXPECT_NO_THROW(require_bindable(problem, 0, b.view(), c.view()));
  EXPECT_THROW(require_bindable(problem, 0, b.view(), wide.view()), UsageError);
  EXPECT_NO_THROW(require_bindable(problem, kLeadingDimension, b.view(), wide.view()));
  EXPECT_THROW(require_bindable(problem, 0, c.view(), c.view()), UsageError);
  DenseView narrow = c.view();
  narrow.leading_dim = 3;
  EXPECT_THROW(require_bindable(problem, kEverything, b.view(), narrow), UsageError);
  DenseMatrix doubles(2, 4, ValueKind::f64);
  EXPECT_THROW(require_bindable(problem, kEverything, b.view(), doubles.view()), UsageError);
}

TEST(RequireMultipliable, AlphaAndBetaAreACapability) {
  SpmmProblem problem = default_spmm_problem(empty_matrix(2, 3, ValueKind::f32), 4);
  EXPECT_NO_THROW(require_multipliable(problem, 0, 1, 0));
  EXPECT_THROW(require_multipliable(problem, 0, 2, 0), UsageError);
  EXPECT_THROW(require_multipliable(problem, 0, 1, 1), UsageError);
  EXPECT_NO_THROW(require_multipliable(problem, kAlphaBeta, 2, 1));
  problem.semiring = Semiring::max_times;
  EXPECT_THROW(require_multipliable(problem, kEverything, 2, 0), UsageError);
}

TEST(Names, RoundTripAndRefuse) {
  for (const Semiring semiring :
       {Semiring::plus_times, Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    EXPECT_EQ(parse_semiring(name_of(semiring)), semiring);
  }
  for (const Schedule schedule :
       {Schedule::automatic, Schedule::static_, Schedule::dynamic, Schedule::guided}) {
    EXPECT_EQ(parse_schedule(name_of(schedule)), schedule);
  }
  EXPECT_THROW(parse_semiring("plus"), UsageError);
  try {
    parse_schedule("fair");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "'fair' is no schedule; use one of auto, static, dynamic, guided");
  }
}

TEST(FindKernel, ListsWhatThereIs) {
  const std::vector<SpmmKernel> table = {{"one", Role::ladder, 0, "", nullptr},
                                         {"two", Role::ladder, 0, "", nullptr}};
  EXPECT_STREQ(find_kernel(table, "two").name, "two");
  try {
    find_kernel(table, "three");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "there is no kernel 'three' here; use one of one, two");
  }
}

}  // namespace
}  // namespace csrkit

#include "core/contract/spgemm.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/facts/matrix_stats.h"
#include "core/judge/compare.h"
#include "core/judge/reference.h"
#include "tests/property/matrices.h"

namespace csrkit {
namespace {

using testing::Entry;
using testing::matrix_of;

// A = [1 2; 0 3], B = [4 0 5; -2 6 0]: C = [0 12 5; -6 18 0] with an entry that cancels at (0, 0).
CsrMatrix small_a() { return matrix_of(2, 2, {{0, 0, 1}, {0, 1, 2}, {1, 1, 3}}); }
CsrMatrix small_b() { return matrix_of(2, 3, {{0, 0, 4}, {0, 2, 5}, {1, 0, -2}, {1, 1, 6}}); }

SpgemmProblem small_problem() { return default_spgemm_problem(small_a(), small_b()); }

std::vector<ReferenceProductEntry> reference_row(const SpgemmProblem& problem, Index row) {
  std::vector<ReferenceProductEntry> entries;
  ReferenceSpgemm(problem, problem.transpose_b ? transpose(problem.b) : problem.b)
      .row(row, entries);
  return entries;
}

TEST(SpgemmReference, KeepsWhatCancels) {
  const auto row = reference_row(small_problem(), 0);
  ASSERT_EQ(row.size(), 3u);
  EXPECT_EQ(row[0].col, 0);
  EXPECT_EQ(row[0].value, 0);
  EXPECT_EQ(row[0].magnitude, 8);
  EXPECT_EQ(row[0].terms, 2);
  EXPECT_EQ(row[1].col, 1);
  EXPECT_EQ(row[1].value, 12);
  EXPECT_EQ(row[2].col, 2);
  EXPECT_EQ(row[2].value, 5);
}

TEST(SpgemmReference, ObeysMaskAlphaAndTranspose) {
  SpgemmProblem problem = small_problem();
  problem.mask = matrix_of(2, 3, {{0, 1, 0}, {1, 2, 1}}, ValueKind::none);
  problem.alpha = -2;
  auto row = reference_row(problem, 0);
  ASSERT_EQ(row.size(), 1u);
  EXPECT_EQ(row[0].value, -24);
  EXPECT_TRUE(reference_row(problem, 1).empty());
  // A A^T = [5 6; 6 9].
  problem = default_spgemm_problem(small_a(), small_a(), true);
  row = reference_row(problem, 0);
  ASSERT_EQ(row.size(), 2u);
  EXPECT_EQ(row[0].value, 5);
  EXPECT_EQ(row[1].value, 6);
}

TEST(SpgemmReference, KnowsSemirings) {
  SpgemmProblem problem = small_problem();
  problem.semiring = Semiring::min_plus;
  EXPECT_EQ(reference_row(problem, 0)[0].value, 0);  // min(1 + 4, 2 - 2)
  problem.semiring = Semiring::max_times;
  EXPECT_EQ(reference_row(problem, 0)[0].value, 4);
  problem.semiring = Semiring::or_and;
  EXPECT_EQ(reference_row(problem, 0)[0].value, 1);
}

TEST(SpgemmCheck, AcceptsTheTruthOnly) {
  const SpgemmProblem problem = small_problem();
  const auto passes = [&](std::vector<Entry> entries) {
    return check_spgemm(problem, matrix_of(2, 3, std::move(entries))).passed;
  };
  EXPECT_TRUE(passes({{0, 0, 0}, {0, 1, 12}, {0, 2, 5}, {1, 0, -6}, {1, 1, 18}}));
  EXPECT_FALSE(passes({{0, 1, 12}, {0, 2, 5}, {1, 0, -6}, {1, 1, 18}}));  // cancelled entry gone
  EXPECT_FALSE(passes({{0, 0, 0}, {0, 1, 12}, {0, 2, 5}, {1, 0, -6}, {1, 1, 18}, {1, 2, 0}}));
  EXPECT_FALSE(passes({{0, 0, 0}, {0, 1, 12.001}, {0, 2, 5}, {1, 0, -6}, {1, 1, 18}}));
  EXPECT_FALSE(passes({{0, 0, 0},
                       {0, 1, std::numeric_limits<double>::quiet_NaN()},
                       {0, 2, 5},
                       {1, 0, -6},
                       {1, 1, 18}}));
  const CheckResult shape = check_spgemm(problem, matrix_of(2, 2, {}));
  EXPECT_FALSE(shape.passed);
  EXPECT_NE(shape.failure.find("expected 2 x 3"), std::string::npos) << shape.failure;
}

TEST(SpgemmCheck, DropsBelowTheThreshold) {
  SpgemmProblem problem = small_problem();
  problem.drop_below = 5.5;
  EXPECT_TRUE(check_spgemm(problem, matrix_of(2, 3, {{0, 1, 12}, {1, 0, -6}, {1, 1, 18}})).passed);
  EXPECT_FALSE(check_spgemm(problem, matrix_of(2, 3, {{0, 1, 12}, {1, 1, 18}})).passed);
  EXPECT_FALSE(
      check_spgemm(problem, matrix_of(2, 3, {{0, 1, 12}, {0, 2, 5}, {1, 0, -6}, {1, 1, 18}}))
          .passed);
}

TEST(SpgemmCheck, SamplesBigProducts) {
  const CsrMatrix a = testing::random_matrix(300, 300, 0.05);
  const SpgemmProblem problem = default_spgemm_problem(a, a);
  std::vector<Entry> entries;
  for (Index row = 0; row < a.rows(); ++row) {
    for (const auto& entry : reference_row(problem, row)) {
      entries.push_back({row, entry.col, entry.value});
    }
  }
  CheckOptions options;
  options.work_limit = 100;
  const CheckResult right = check_spgemm(problem, matrix_of(300, 300, entries), options);
  EXPECT_TRUE(right.passed) << right.failure;
  EXPECT_TRUE(right.sampled);
  entries[entries.size() / 2].value += 1e-6;  // in a row that the budget does not reach
  EXPECT_FALSE(check_spgemm(problem, matrix_of(300, 300, entries), options).passed);
}

TEST(SpgemmProblem, RefusesWhatDoesNotFit) {
  EXPECT_THROW(require_legal(default_spgemm_problem(small_b(), small_a())), UsageError);
  SpgemmProblem problem = small_problem();
  EXPECT_NO_THROW(require_legal(problem));
  problem.mask = small_a();
  EXPECT_THROW(require_legal(problem), UsageError);
  problem = small_problem();
  problem.b = convert_values(problem.b, ValueKind::f32);
  EXPECT_THROW(require_legal(problem), UsageError);
  problem.b = convert_values(problem.b, ValueKind::none);
  EXPECT_NO_THROW(require_legal(problem));
  problem.c = ValueKind::f32;
  EXPECT_THROW(require_legal(problem), UsageError);
  problem = small_problem();
  problem.drop_below = -1;
  try {
    require_legal(problem);
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "drop_below is -1; it must be 0 or a positive number");
  }
  problem.drop_below = std::numeric_limits<double>::infinity();
  EXPECT_THROW(require_legal(problem), UsageError);
  problem.drop_below = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(require_legal(problem), UsageError);
  problem = small_problem();
  problem.mask = matrix_of(2, 4, {});
  EXPECT_THROW(require_legal(problem), UsageError) << "of C's rows, and one column more";
  EXPECT_THROW(require_legal(default_spgemm_problem(small_b(), small_a(), true)), UsageError);
}

TEST(SpgemmProblem, SemiringsTakeWhatTheyCan) {
  SpgemmProblem problem = small_problem();
  problem.semiring = Semiring::min_plus;
  EXPECT_NO_THROW(require_legal(problem));
  problem.alpha = 2;
  EXPECT_THROW(require_legal(problem), UsageError);
  for (const ValueKind kind : {ValueKind::f16, ValueKind::bf16}) {
    const CsrMatrix narrow = convert_values(small_b(), kind);
    problem = default_spgemm_problem(convert_values(small_a(), kind), narrow);
    EXPECT_NO_THROW(require_legal(problem));
    problem.semiring = Semiring::or_and;
    EXPECT_THROW(require_legal(problem), UsageError);
    problem = default_spgemm_problem(convert_values(small_a(), ValueKind::none), narrow);
    problem.semiring = Semiring::or_and;
    EXPECT_THROW(require_legal(problem), UsageError);
  }
}

TEST(SpgemmProblem, AlphaFitsTheSums) {
  SpgemmProblem problem = default_spgemm_problem(convert_values(small_a(), ValueKind::f32),
                                                 convert_values(small_b(), ValueKind::f32));
  problem.alpha = -3e38;
  EXPECT_NO_THROW(require_legal(problem));
  problem.alpha = -1e39;
  EXPECT_THROW(require_legal(problem), UsageError);
  problem = default_spgemm_problem(convert_values(small_a(), ValueKind::f64),
                                   convert_values(small_b(), ValueKind::f64));
  problem.alpha = -1e39;
  EXPECT_NO_THROW(require_legal(problem));
}

TEST(SpgemmProblem, SumsWithoutValuesAreOfEitherKind) {
  SpgemmProblem problem = default_spgemm_problem(convert_values(small_a(), ValueKind::none),
                                                 convert_values(small_b(), ValueKind::none));
  for (const auto& [kind, is_legal] :
       {std::pair{ValueKind::f32, true}, {ValueKind::f64, true}, {ValueKind::f16, false}}) {
    problem.accumulate = problem.c = kind;
    if (is_legal) {
      EXPECT_NO_THROW(require_legal(problem));
    } else {
      EXPECT_THROW(require_legal(problem), UsageError);
    }
  }
}

TEST(SpgemmProblem, NeedsWhatItUses) {
  SpgemmProblem problem = small_problem();
  EXPECT_EQ(needed_for(problem), kF64);
  problem.alpha = 2;
  EXPECT_EQ(needed_for(problem), kF64 | kAlphaBeta);
  problem.drop_below = 1;
  problem.mask = small_b();
  EXPECT_EQ(needed_for(problem), kF64 | kAlphaBeta | kDropBelow | kMask);
  problem = default_spgemm_problem(small_a(), small_a(), true);
  problem.semiring = Semiring::max_times;
  EXPECT_EQ(needed_for(problem), kF64 | kTranspose | kSemirings);
}

TEST(SpgemmProblem, TellsSameStructureFromNewOne) {
  const SpgemmProblem problem = small_problem();
  EXPECT_NO_THROW(require_same_structure(problem, small_a(), small_b()));
  const CsrMatrix other = matrix_of(2, 2, {{0, 0, 1}, {1, 0, 2}, {1, 1, 3}});
  EXPECT_THROW(require_same_structure(problem, other, small_b()), UsageError);
  EXPECT_THROW(
      require_same_structure(problem, small_a(),
                             matrix_of(2, 3, {{0, 0, 4}, {0, 1, 5}, {1, 0, -2}, {1, 1, 6}})),
      UsageError);
  EXPECT_THROW(require_same_structure(problem, matrix_of(2, 3, {}), small_b()), UsageError);
  EXPECT_THROW(
      require_same_structure(problem, convert_values(small_a(), ValueKind::f32), small_b()),
      UsageError);
  const CsrMatrix a = small_a();
  EXPECT_NO_THROW(require_same_structure(default_spgemm_problem(a, a), small_a(), small_b()))
      << "of A A only A is looked at";
}

TEST(SpgemmCost, CountsProducts) {
  const SpgemmProblem problem = small_problem();
  Offset per_row[2];
  EXPECT_EQ(spgemm_products(problem.a, problem.b, per_row), 6);
  EXPECT_EQ(spgemm_output_nnz(problem.a, problem.b), 5);
  EXPECT_EQ(per_row[0], 4);
  EXPECT_EQ(per_row[1], 2);
  EXPECT_EQ(spgemm_cost(problem, 6, 5).flops, 12);
  EXPECT_EQ(operand_bytes(default_spgemm_problem(problem.a, problem.a)), problem.a.size_bytes());
}

}  // namespace
}  // namespace csrkit

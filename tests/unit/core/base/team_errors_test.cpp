#include "core/base/team_errors.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/facts/reuse_distance.h"
#include "core/judge/compare.h"
#include "core/judge/reference.h"
#include "core/matrix/permutation.h"
#include "tests/unit/core/pattern_samples.h"
#include "tests/unit/failing_allocations.h"

namespace csrkit {
namespace {

TEST(TeamErrors, KeepsOneErrorAndLetsTheOthersStop) {
  TeamErrors errors;
  int done = 0;
#pragma omp parallel for num_threads(4) reduction(+ : done)
  for (int i = 0; i < 1000; ++i) {
    errors.guard([&] {
      if (i % 2 == 0) throw InputError("item " + std::to_string(i));
      ++done;
    });
  }
  EXPECT_TRUE(errors.has_error());
  EXPECT_LT(done, 500);
  EXPECT_THROW(errors.rethrow(), InputError);
  errors.guard([&] { done = 1000; });
  EXPECT_LT(done, 500) << "works on after an error";
}

TEST(TeamErrors, WithoutAnErrorNothingIsThrown) {
  TeamErrors errors;
  errors.guard([] {});
  EXPECT_FALSE(errors.has_error());
  errors.rethrow();
}

// Regions whose threads allocate: in a caller's process, what fails there must be an exception.

DenseMatrix filled(Index rows, Index cols, double value) {
  DenseMatrix x(rows, cols, ValueKind::f32);
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) x.view().set(row, col, value);
  }
  return x;
}

TEST(TeamErrors, TheJudgeSurvivesEveryAllocationThatFails) {
  const CsrMatrix a = random_pattern(60, 50, 4, 1);
  const SpmmProblem problem = default_spmm_problem(a, 3);
  CheckOptions samples;
  samples.always_samples = true;
  samples.work_limit = 100;
  // With infinities, and with wrong numbers: both are written down while the others go on.
  for (const double value : {std::numeric_limits<double>::infinity(), 7.0}) {
    const DenseMatrix b = filled(50, 3, 1), c = filled(60, 3, value);
    for (const CheckOptions& options : {samples, CheckOptions()}) {
      CheckResult result;
      EXPECT_GT(test::failures_of([&] {
                  result = check_spmm(problem, b.view(), 1, 0, nullptr, c.view(), options);
                }),
                4);
      EXPECT_FALSE(result.passed);
    }
  }
  const CsrMatrix b = random_pattern(50, 40, 4, 2);
  const SpgemmProblem product = default_spgemm_problem(a, b);
  const CsrMatrix wrong = convert_values(random_pattern(60, 40, 4, 3), product.c);
  for (const CheckOptions& options : {samples, CheckOptions()}) {
    CheckResult result;
    EXPECT_GT(test::failures_of([&] { result = check_spgemm(product, wrong, options); }), 10);
    EXPECT_FALSE(result.passed);
  }
}

TEST(TeamErrors, ReuseDistancesSurviveEveryAllocationThatFails) {
  const CsrMatrix a = random_pattern(60, 50, 4, 1);
  ReuseOptions options;
  options.readers = {4, 5, true};
  EXPECT_GT(test::failures_of([&] { reuse_profile(a, options); }), 10);
}

TEST(TeamErrors, PermutingSurvivesEveryAllocationThatFails) {
  const CsrMatrix a = random_pattern(60, 60, 4, 1);
  Buffer<Index> reversed(60);
  for (Index row = 0; row < 60; ++row) reversed[row] = 59 - row;
  const Permutation order = Permutation::from_old_of_new(std::move(reversed));
  EXPECT_GT(test::failures_of([&] { permute_both(a, order); }), 4);
}

}  // namespace
}  // namespace csrkit

#include "core/base/team_errors.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

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

/// Ones, but for the last value.
CsrMatrix diagonal(Index rows, float last) {
  Buffer<Offset> offsets(rows + 1);
  Buffer<Index> cols(rows);
  Buffer<float> values(rows);
  offsets[0] = 0;
  for (Index row = 0; row < rows; ++row) {
    offsets[row + 1] = row + 1;
    cols[row] = row;
    values[row] = 1;
  }
  values[rows - 1] = last;
  return CsrMatrix(rows, rows, std::move(offsets), std::move(cols),
                   ValueArray::from(std::move(values)));
}

/// A judge of something wrong, whose allocations fail one after another: it throws, or finds it. An
/// error that is lost would be a verdict on rows that nobody looked at.
template <class Judge>
void expect_every_error(const Judge& judge) {
  const int threads = omp_get_max_threads();
  for (const int team : {1, threads}) {
    omp_set_num_threads(team);
    int passed = 0;
    EXPECT_GT(test::failures_of([&] {
                const CheckResult result = judge();
                passed += result.passed;
              }),
              4);
    EXPECT_EQ(passed, 0);
  }
  omp_set_num_threads(threads);
}

TEST(TeamErrors, TheJudgesSurviveEveryAllocationThatFails) {
  const CsrMatrix a = random_pattern(60, 50, 4, 1);
  CheckOptions samples;
  samples.always_samples = true;
  samples.work_limit = 1;  // no row of its own: what is compared are projections, or special rows
  const std::vector<CheckOptions> both = {samples, CheckOptions()};
  // With an infinity, and with a wrong number: both are written down while the others go on.
  for (const double wrong : {std::numeric_limits<double>::infinity(), 7.0}) {
    const SpmmProblem problem = default_spmm_problem(a, 3);
    const DenseMatrix b = filled(50, 3, 0);
    DenseMatrix c = filled(60, 3, 0);
    c.view().set(59, 2, wrong);
    for (const CheckOptions& options : both) {
      expect_every_error([&] {
        return check_spmm(problem, b.view(), 1, 0, nullptr, std::as_const(c).view(), options);
      });
    }
    const SddmmProblem sampled = default_sddmm_problem(a, 3);
    const DenseMatrix x = filled(60, 3, 0);
    std::vector<float> values(static_cast<std::size_t>(a.nnz()));
    values.back() = static_cast<float>(wrong);
    const ConstValuesView view{values.data(), ValueKind::f32, a.nnz()};
    for (CheckOptions options : both) {
      options.work_limit *= 200;  // the last row is among the samples
      expect_every_error(
          [&] { return check_sddmm(sampled, x.view(), b.view(), 1, 0, nullptr, view, options); });
    }
  }
  const SpgemmProblem square = default_spgemm_problem(diagonal(60, 1), diagonal(60, 1));
  const CsrMatrix wrong = diagonal(60, 7);
  for (const CheckOptions& options : both) {
    expect_every_error([&] { return check_spgemm(square, wrong, options); });
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

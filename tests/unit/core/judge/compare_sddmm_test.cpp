// The judge of sampled products: it takes what is right and sees what is wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/judge/compare.h"
#include "core/judge/reference.h"
#include "tests/property/matrices.h"

namespace csrkit {
namespace {

using namespace testing;

struct Sample {
  SddmmProblem problem;
  DenseMatrix x, y;
  std::vector<float> c, c0;
  double alpha = 1.5, beta = 0;

  explicit Sample(const CsrMatrix& matrix, Index dense_cols = 20)
      : problem(default_sddmm_problem(convert_values(matrix, ValueKind::f32), dense_cols)),
        x(matrix.rows(), dense_cols, ValueKind::f32),
        y(matrix.cols(), dense_cols, ValueKind::f32),
        c(static_cast<std::size_t>(matrix.nnz())),
        c0(c.size(), 0.25f) {
    fill_random(x.view(), 1);
    fill_random(y.view(), 2);
    make();
  }

  ConstValuesView view(const std::vector<float>& values) const {
    return {values.data(), ValueKind::f32, static_cast<Offset>(values.size())};
  }

  /// The right values, rounded once.
  void make() {
    const ConstValuesView before = view(c0);
    for (Index row = 0; row < problem.a.rows(); ++row) {
      for (Offset at = problem.a.row_offsets()[row]; at < problem.a.row_offsets()[row + 1]; ++at) {
        c[static_cast<std::size_t>(at)] = static_cast<float>(
            reference_sddmm_entry(problem, x.view(), y.view(), alpha, beta, &before, row, at)
                .value);
      }
    }
  }

  CheckResult check(const CheckOptions& options = {}) const {
    const ConstValuesView before = view(c0);
    return check_sddmm(problem, x.view(), y.view(), alpha, beta, &before, view(c), options);
  }
};

TEST(CheckSddmm, TakesWhatIsRight) {
  Sample sample(random_matrix(40, 30, 0.2));
  EXPECT_TRUE(sample.check().passed);
  sample.beta = -2;
  sample.problem.multiplies_by_a = true;
  sample.make();
  const CheckResult result = sample.check();
  EXPECT_TRUE(result.passed) << result.failure;
  EXPECT_EQ(result.rows_checked, 40);
  EXPECT_LT(result.worst_error_ratio, 1);
}

TEST(CheckSddmm, SeesEveryWrongEntry) {
  Sample sample(random_matrix(12, 10, 0.3));
  for (std::size_t at = 0; at < sample.c.size(); ++at) {
    for (const float wrong :
         {sample.c[at] + 0.001f, sample.c[at] - 0.001f, std::numeric_limits<float>::quiet_NaN(),
          std::numeric_limits<float>::infinity()}) {
      const float right = sample.c[at];
      sample.c[at] = wrong;
      const CheckResult result = sample.check();
      EXPECT_FALSE(result.passed) << at;
      EXPECT_NE(result.failure.find("expected"), std::string::npos);
      EXPECT_GE(result.worst_error_ratio, 1);
      sample.c[at] = right;
    }
  }
}

TEST(CheckSddmm, NansMustBeWhereTheyBelong) {
  Sample sample(random_matrix(12, 10, 0.5));
  sample.y.view().set(3, 4, std::numeric_limits<double>::quiet_NaN());
  sample.make();
  EXPECT_TRUE(sample.check().passed);
  int changed = 0;
  for (float& value : sample.c) {
    if (!std::isnan(value)) continue;
    value = 0;
    ++changed;
    EXPECT_FALSE(sample.check().passed);
    value = std::numeric_limits<float>::quiet_NaN();
  }
  EXPECT_GT(changed, 0);
}

TEST(CheckSddmm, SamplesBigProducts) {
  Sample sample(random_matrix(300, 200, 0.1));
  CheckOptions few;
  few.work_limit = 2000;
  CheckResult result = sample.check(few);
  EXPECT_TRUE(result.passed) << result.failure;
  EXPECT_TRUE(result.sampled);
  EXPECT_GT(result.rows_checked, 2);
  EXPECT_LE(result.rows_checked, 42) << "as many as the limit pays for";
  // What is not finite is found wherever it is.
  for (const std::size_t at : {sample.c.size() / 3, sample.c.size() - 1}) {
    const float right = sample.c[at];
    sample.c[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(sample.check(few).passed) << at;
    sample.c[at] = right;
  }
  // Of a hundred wrong stretches one entry each is looked at.
  for (float& value : sample.c) value += 1;
  EXPECT_FALSE(sample.check(few).passed);
}

/// 300 rows of 20 entries but for those of `lengths`.
CsrMatrix rows_of(std::vector<std::pair<Index, Index>> lengths) {
  std::vector<Entry> entries;
  for (Index row = 0; row < 300; ++row) {
    Index length = 20;
    for (const auto& [at, other] : lengths) {
      if (row == at) length = other;
    }
    for (Index col = 0; col < length; ++col) entries.push_back({row, (7 * col + row) % 200, 1});
  }
  return matrix_of(300, 200, entries);
}

TEST(CheckSddmm, SamplesTheFirstTheLastAndTheLongestRowsAndEveryStretch) {
  CheckOptions few;
  few.work_limit = 2000;
  Sample sample(rows_of({{0, 1}, {150, 60}, {299, 1}}));
  const CheckResult right = sample.check(few);
  EXPECT_TRUE(right.passed);
  EXPECT_GT(right.worst_error_ratio, 0);
  EXPECT_LT(right.worst_error_ratio, 1);
  const auto sees = [&](Offset begin, Offset end) {
    const std::vector<float> good = sample.c;
    for (Offset at = begin; at < end; ++at) sample.c[static_cast<std::size_t>(at)] += 1;
    const CheckResult result = sample.check(few);
    sample.c = good;
    if (!result.passed) {
      EXPECT_GT(result.worst_error_ratio, 1);
    }
    return !result.passed;
  };
  const Offset* const offsets = sample.problem.a.row_offsets();
  EXPECT_TRUE(sees(0, 1));
  EXPECT_TRUE(sees(offsets[299], offsets[300]));
  EXPECT_TRUE(sees(offsets[150], offsets[151]));
  EXPECT_TRUE(sees(offsets[1], offsets[8])) << "the first stretch";
}

TEST(CheckSddmm, LooksAtWhatIsNotFiniteAlthoughSomeOfItIsRight) {
  CheckOptions few;
  few.work_limit = 2000;
  Sample sample(rows_of({}));
  sample.x.view().set(100, 3, std::numeric_limits<double>::quiet_NaN());  // 20 entries
  sample.make();
  const CheckResult right = sample.check(few);
  EXPECT_TRUE(right.passed);
  sample.c[sample.c.size() - 100] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(sample.check(few).passed);
}

TEST(CheckSddmm, SamplesSmallProductsToo) {
  CheckOptions samples;
  samples.always_samples = true;
  for (const Index rows : {1, 12}) {
    Sample sample(matrix_of(rows, 3, {{0, 0, 1}, {0, 2, 1}}));
    const CheckResult result = sample.check(samples);
    EXPECT_TRUE(result.passed);
    EXPECT_EQ(result.rows_checked, 1);
    sample.c[0] += 1;
    EXPECT_FALSE(sample.check(samples).passed);
  }
  Sample one(matrix_of(3, 3, {{1, 1, 1}}));
  EXPECT_EQ(one.check(samples).rows_checked, 1);
  one.c[0] += 1;
  EXPECT_FALSE(one.check(samples).passed);
  EXPECT_TRUE(Sample(matrix_of(3, 3, {})).check(samples).passed);
}

/// The verdict on one entry, found to be `found`.
struct OneEntry {
  std::vector<double> x, y;
  double alpha = 1, s = 1;
  ValueKind c = ValueKind::f32;

  CheckResult judge(double found) const {
    const auto cols = static_cast<Index>(x.size());
    SddmmProblem problem =
        default_sddmm_problem(matrix_of(1, 1, {{0, 0, s}}, ValueKind::f32), cols);
    problem.multiplies_by_a = true;
    DenseMatrix left(1, cols, ValueKind::f32), right(1, cols, ValueKind::f32);
    if (c == ValueKind::f16) {  // C in the kind of X and Y
      problem.x = problem.c = c;
      left = DenseMatrix(1, cols, c);
      right = DenseMatrix(1, cols, c);
    }
    for (Index k = 0; k < cols; ++k) {
      left.view().set(0, k, x[static_cast<std::size_t>(k)]);
      right.view().set(0, k, y[static_cast<std::size_t>(k)]);
    }
    DenseMatrix number(1, 1, c);
    number.view().set(0, 0, found);
    return check_sddmm(problem, left.view(), right.view(), alpha, 0, nullptr,
                       {number.view().data, c, 1});
  }
  bool takes(double found) const { return judge(found).passed; }
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(CheckSddmm, InfinitiesAreRightOnlyWhereSumsMayLeaveTheRange) {
  const double most = std::numeric_limits<float>::max();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE((OneEntry{{0.75 * most}, {1}}.takes(kInfinity)));
  // The terms cancel; their sum may have been infinite on the way.
  const OneEntry cancels{{0.75 * most, 0.75 * most}, {1, -1}};
  for (const double found : {0.0, kInfinity, -kInfinity, nan}) {
    EXPECT_TRUE(cancels.takes(found)) << found;
  }
  EXPECT_LE(cancels.judge(kInfinity).worst_error_ratio, 1);
  EXPECT_FALSE(cancels.takes(1e38));
  EXPECT_TRUE((OneEntry{{0.75 * most, 0.75 * most}, {1, -1}, 1, 0.1}.takes(kInfinity)));
  // The range ends where five roundings leave it.
  EXPECT_TRUE((OneEntry{{most - 4 * 0x1p104}, {1}}.takes(kInfinity)));
  EXPECT_FALSE((OneEntry{{most - 5 * 0x1p104}, {1}}.takes(kInfinity)));
  // Only S, or only alpha, takes the sum out of the range.
  EXPECT_TRUE((OneEntry{{0.5 * most}, {1}, 0.25, 4}.takes(kInfinity)));
  EXPECT_TRUE((OneEntry{{0.5 * most}, {1}, 0.25, -4}.takes(-kInfinity)));
  EXPECT_TRUE((OneEntry{{0.5 * most, 0.3 * most}, {1, -1}, 4, 1}.takes(nan)));
  EXPECT_FALSE((OneEntry{{0.5 * most, 0.3 * most}, {1, -1}, 1, 1}.takes(nan)));
  // An operand is infinite: so must C be, on the right side.
  const OneEntry infinite{{kInfinity, 1}, {2, 1}};
  EXPECT_TRUE(infinite.takes(kInfinity));
  EXPECT_FALSE(infinite.takes(-kInfinity));
  EXPECT_FALSE(infinite.takes(nan));
  EXPECT_FALSE(infinite.takes(5));
  // And where its finite terms may have been infinite on the other side, on any.
  const OneEntry torn{{kInfinity, 0.75 * most, 0.75 * most}, {1, 1, -1}};
  EXPECT_TRUE(torn.takes(kInfinity));
  EXPECT_TRUE(torn.takes(-kInfinity));
  EXPECT_FALSE(torn.takes(5));
  EXPECT_TRUE((OneEntry{{kInfinity, 0.5 * most}, {1, 1}, -4, 1}.takes(nan)));
  EXPECT_FALSE((OneEntry{{kInfinity, 0.5 * most}, {1, 1}, -1, 1}.takes(nan)));
}

TEST(CheckSddmm, AnInfinityMayStayWhereTheReferenceOverflowedToTheOther) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto takes = [](std::vector<double> x, double factor, double found) {
    SddmmProblem problem = default_sddmm_problem(matrix_of(1, 1, {{0, 0, factor}}, ValueKind::f64),
                                                 static_cast<Index>(x.size()));
    problem.multiplies_by_a = true;
    DenseMatrix left(1, problem.dense_cols, ValueKind::f64);
    DenseMatrix right(1, problem.dense_cols, ValueKind::f64);
    for (Index k = 0; k < problem.dense_cols; ++k) {
      left.view().set(0, k, x[static_cast<std::size_t>(k)]);
      right.view().set(0, k, 1);
    }
    return check_sddmm(problem, std::as_const(left).view(), std::as_const(right).view(), 1, 0,
                       nullptr, {&found, ValueKind::f64, 1})
        .passed;
  };
  for (const double factor : {1.0, -0.5}) {
    const double stored = -kInfinity * factor;
    EXPECT_TRUE(takes({1e308, 1e308, -kInfinity}, factor, stored));
    EXPECT_TRUE(takes({1e308, 1e308, -kInfinity}, factor, nan));
    EXPECT_FALSE(takes({1e308, 1e308, -kInfinity}, factor, -stored));
    EXPECT_FALSE(takes({1e308, 1e308, -kInfinity, nan}, factor, stored));
    EXPECT_FALSE(takes({1, -kInfinity, kInfinity}, factor, stored));
  }
}

TEST(CheckSddmm, WhatIsAddedMayTakeTheSumOutOfTheRange) {
  const double most = std::numeric_limits<double>::max();
  const auto takes = [](double product, double before, double found) {
    const SddmmProblem problem =
        default_sddmm_problem(matrix_of(1, 1, {{0, 0, 1}}, ValueKind::f64), 1);
    DenseMatrix x(1, 1, ValueKind::f64), y(1, 1, ValueKind::f64);
    x.view().set(0, 0, product);
    y.view().set(0, 0, 1);
    const ConstValuesView c0{&before, ValueKind::f64, 1};
    return check_sddmm(problem, std::as_const(x).view(), std::as_const(y).view(), 1, 1, &c0,
                       {&found, ValueKind::f64, 1})
        .passed;
  };
  EXPECT_TRUE(takes(0.75 * most, 0.75 * most, kInfinity));
  EXPECT_TRUE(takes(-0.75 * most, 0.75 * most, 0));
  EXPECT_TRUE(takes(kInfinity, most, kInfinity));
  EXPECT_FALSE(takes(kInfinity, most, 5));
  EXPECT_FALSE(takes(0.25 * most, 0.25 * most, kInfinity));
}

TEST(CheckSddmm, TheBoundIsFiveRoundingsOfOneProduct) {
  const OneEntry one{{1}, {1}};
  EXPECT_EQ(one.judge(1).worst_error_ratio, 0);
  EXPECT_TRUE(one.takes(1 + 4 * 0x1p-24));
  EXPECT_FALSE(one.takes(1 + 6 * 0x1p-24));
  EXPECT_TRUE(one.takes(1 - 5 * 0x1p-24));
  EXPECT_FALSE(one.takes(1 - 6 * 0x1p-24));
  EXPECT_NEAR(one.judge(1 + 4 * 0x1p-24).worst_error_ratio, 0.8, 0.01);
}

TEST(CheckSddmm, ANarrowOutputMayOverflowWhereItsRangeEnds) {
  const OneEntry beyond{{65504, 16}, {1, 1}, 1, 1, ValueKind::f16};
  EXPECT_TRUE(beyond.takes(kInfinity));
  EXPECT_TRUE(beyond.takes(65504));
  EXPECT_FALSE(beyond.takes(-kInfinity));
  EXPECT_FALSE((OneEntry{{60000, 16}, {1, 1}, 1, 1, ValueKind::f16}.takes(kInfinity)));
  const OneEntry below{{-65504, -16}, {1, 1}, 1, 1, ValueKind::f16};
  EXPECT_TRUE(below.takes(-kInfinity));
  EXPECT_TRUE(below.takes(-65504));
  EXPECT_TRUE((OneEntry{{0x1p-14}, {0x1p-14}, 1, 1, ValueKind::f16}.takes(0x1p-24)));
}

TEST(CheckSddmm, WhatUnderflowsIsRightToAFewOfTheSmallestNumbers) {
  const OneEntry nothing{{1e-30}, {1e-30}};
  EXPECT_TRUE(nothing.takes(5 * 0x1p-149));
  EXPECT_FALSE(nothing.takes(7 * 0x1p-149));
  EXPECT_FALSE(nothing.takes(-7 * 0x1p-149));
  // Of which alpha and S make more.
  for (const double factor : {-8.0, 8.0}) {
    for (const OneEntry& scaled :
         {OneEntry{{1e-30}, {1e-30}, factor, 1}, OneEntry{{1e-30}, {1e-30}, 1, factor}}) {
      EXPECT_TRUE(scaled.takes(39 * 0x1p-149));
      EXPECT_FALSE(scaled.takes(42 * 0x1p-149));
    }
  }
  for (const OneEntry& smaller :
       {OneEntry{{1e-30}, {1e-30}, 0.1, 1}, OneEntry{{1e-30}, {1e-30}, 1, 0.1}}) {
    EXPECT_TRUE(smaller.takes(5 * 0x1p-149));
  }
}

TEST(CheckSddmm, RefusesWhatItCannotJudge) {
  Sample sample(random_matrix(12, 10, 0.5));
  SddmmProblem illegal = sample.problem;
  illegal.accumulate = ValueKind::f16;
  EXPECT_THROW(
      check_sddmm(illegal, sample.x.view(), sample.y.view(), 1, 0, nullptr, sample.view(sample.c)),
      UsageError);
  ConstValuesView short_of_one = sample.view(sample.c0);
  --short_of_one.size;
  EXPECT_THROW(check_sddmm(sample.problem, sample.x.view(), sample.y.view(), 1, 1, &short_of_one,
                           sample.view(sample.c)),
               UsageError);
  EXPECT_THROW(
      check_sddmm(sample.problem, sample.x.view(), sample.y.view(), 1, 0, nullptr, short_of_one),
      UsageError);
  EXPECT_THROW(check_sddmm(sample.problem, sample.x.view(), sample.y.view(), 1, 1, nullptr,
                           sample.view(sample.c)),
               UsageError);
  ConstValuesView on_device = sample.view(sample.c);
  on_device.space = MemorySpace::device;
  EXPECT_THROW(
      check_sddmm(sample.problem, sample.x.view(), sample.y.view(), 1, 0, nullptr, on_device),
      UsageError);
}

}  // namespace
}  // namespace csrkit

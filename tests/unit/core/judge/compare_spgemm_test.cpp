#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/judge/compare.h"
#include "core/judge/reference.h"
#include "tests/property/matrices.h"

namespace csrkit {
namespace {

using testing::Entry;
using testing::matrix_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// C = (a) * (b), 1 x 1, with C as somebody computed it: entry by entry, or by the projection
/// alone, because no row is within the limit.
CheckResult check_one(double a, double b, ValueKind kind, double c, bool by_projection,
                      double alpha = 1, double drop_below = 0) {
  SpgemmProblem problem = default_spgemm_problem(matrix_of(1, 1, {{0, 0, a}}, kind),
                                                 matrix_of(1, 1, {{0, 0, b}}, kind));
  problem.alpha = alpha;
  problem.drop_below = drop_below;
  CheckOptions options;
  options.always_samples = by_projection;
  if (by_projection) options.work_limit = 1;
  return check_spgemm(problem, matrix_of(1, 1, {{0, 0, c}}, problem.c), options);
}

TEST(CheckSpgemm, AcceptsUpToTheBoundAndNoFurther) {
  for (const bool by_projection : {false, true}) {
    // One term: gamma(4), which is two units in the last place of 1 in f32.
    for (const double sign : {-1.0, 1.0}) {
      const auto check = [&](double bounds) {
        return check_one(0.5, 2, ValueKind::f32, 1 + sign * bounds * 0x1p-22, by_projection);
      };
      EXPECT_TRUE(check(1).passed);
      EXPECT_FALSE(check(1.5).passed);
      EXPECT_GT(check(1.5).worst_error_ratio, 1.49);
    }
  }
  EXPECT_TRUE(check_one(0.5, 2, ValueKind::f64, 1 + 0x1p-50, false).passed);
  EXPECT_FALSE(check_one(0.5, 2, ValueKind::f64, 1 + 0x1.8p-50, false).passed);
}

TEST(CheckSpgemm, AllowsGradualUnderflowAndNoMore) {
  const double tiny = 0x1p-149;
  EXPECT_TRUE(check_one(0, 1, ValueKind::f32, 4 * tiny, false).passed);
  EXPECT_FALSE(check_one(0, 1, ValueKind::f32, 5 * tiny, false).passed);
  EXPECT_TRUE(check_one(0, 1, ValueKind::f32, 32 * tiny, false, -8).passed);
  EXPECT_FALSE(check_one(0, 1, ValueKind::f32, 33 * tiny, false, -8).passed);
  // The projection adds one entry's worth for the row: (1 + 1) * (1 + 3) * tiny.
  EXPECT_TRUE(check_one(0, 1, ValueKind::f32, 8 * tiny, true).passed);
  EXPECT_FALSE(check_one(0, 1, ValueKind::f32, 9 * tiny, true).passed);
}

TEST(CheckSpgemm, KnowsWhereTheRangeEnds) {
  const double largest = std::numeric_limits<float>::max();
  EXPECT_FALSE(check_one(largest * 0.6, 1, ValueKind::f32, kInfinity, false).passed);
  EXPECT_TRUE(check_one(largest, 1, ValueKind::f32, largest, false).passed);
  EXPECT_TRUE(check_one(largest, 1, ValueKind::f32, kInfinity, false).passed);  // one rounding up
  EXPECT_TRUE(check_one(largest * 0.3, 1, ValueKind::f32, kInfinity, false, 4).passed);
  EXPECT_FALSE(check_one(largest * 0.3, 1, ValueKind::f32, kInfinity, false, 2).passed);
}

/// A row times a column of ones, 1 x 1.
CheckResult check_sum(const std::vector<double>& terms, double c, double alpha = 1,
                      Semiring semiring = Semiring::plus_times, ValueKind kind = ValueKind::f32) {
  std::vector<Entry> row, ones;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    row.push_back({0, static_cast<Index>(k), terms[k]});
    ones.push_back({static_cast<Index>(k), 0, 1});
  }
  const auto count = static_cast<Index>(terms.size());
  SpgemmProblem problem =
      default_spgemm_problem(matrix_of(1, count, row, kind), matrix_of(count, 1, ones, kind));
  problem.alpha = alpha;
  problem.semiring = semiring;
  return check_spgemm(problem, matrix_of(1, 1, {{0, 0, c}}, problem.c));
}

TEST(CheckSpgemm, PartialSumsMayLeaveTheRange) {
  const double big = 0.9 * std::numeric_limits<float>::max();
  EXPECT_TRUE(check_sum({big, big, -big}, kInfinity).passed);
  EXPECT_TRUE(check_sum({big, big, -big}, kNan).passed);
  EXPECT_TRUE(check_sum({big, big, -big}, kInfinity, 0.25).passed);
  EXPECT_FALSE(check_sum({big / 3, big / 3, -big / 3}, kInfinity, 0.25).passed);
  const double largest = std::numeric_limits<float>::max();
  EXPECT_TRUE(check_sum({largest / 2}, kInfinity, 2).passed);  // one rounding up
}

TEST(CheckSpgemm, FourRoundingsBelowTheEndAreInside) {
  const double largest = std::numeric_limits<float>::max(), last_place = 0x1p104;
  EXPECT_FALSE(check_sum({largest - 4 * last_place}, kInfinity).passed);
  EXPECT_TRUE(check_sum({largest - 3 * last_place}, kInfinity).passed);
}

TEST(CheckSpgemm, AnInfinityMustBeThereWithItsSign) {
  const double big = 0.2 * std::numeric_limits<float>::max();
  for (const double alpha : {-1.0, -8.0}) {
    const auto passes = [&](double c) { return check_sum({kInfinity, big, big}, c, alpha).passed; };
    EXPECT_TRUE(passes(-kInfinity));
    EXPECT_FALSE(passes(1));
    // 0.4 times the largest number is in range; eight times that is not, and may have been added to
    // the infinity as another one.
    EXPECT_EQ(passes(kNan), alpha < -1);
    EXPECT_EQ(passes(kInfinity), alpha < -1);
  }
  EXPECT_TRUE(check_sum({kNan, 1}, kNan).passed);
  EXPECT_FALSE(check_sum({kNan, 1}, 1).passed);
  EXPECT_FALSE(check_sum({kNan, 1}, kInfinity).passed);
}

TEST(CheckSpgemm, AnInfinityMayStayWhereTheReferenceOverflowedToTheOther) {
  for (const double alpha : {1.0, -0.5}) {
    const auto passes = [&](const std::vector<double>& terms, double c) {
      return check_sum(terms, c, alpha, Semiring::plus_times, ValueKind::f64).passed;
    };
    const double stored = -kInfinity * alpha;
    EXPECT_TRUE(passes({1e308, 1e308, -kInfinity}, stored));
    EXPECT_TRUE(passes({1e308, 1e308, -kInfinity}, kNan));
    EXPECT_FALSE(passes({1e308, 1e308, -kInfinity}, -stored));
    EXPECT_FALSE(passes({1e308, 1e308, -kInfinity, kNan}, stored));
    EXPECT_FALSE(passes({1, -kInfinity, kInfinity}, stored));
  }
  // What is stored as infinities is infinity less infinity: min-plus adds them, not multiplies.
  SpgemmProblem torn =
      default_spgemm_problem(matrix_of(1, 1, {{0, 0, kInfinity}}, ValueKind::f64),
                             matrix_of(1, 1, {{0, 0, -kInfinity}}, ValueKind::f64));
  torn.semiring = Semiring::min_plus;
  EXPECT_TRUE(check_spgemm(torn, matrix_of(1, 1, {{0, 0, kNan}}, ValueKind::f64)).passed);
  EXPECT_FALSE(check_spgemm(torn, matrix_of(1, 1, {{0, 0, -kInfinity}}, ValueKind::f64)).passed);
}

TEST(CheckSpgemm, OtherSemiringsHaveARangeOfTheirOwn) {
  const double largest = std::numeric_limits<float>::max();
  const auto passes = [&](std::vector<double> terms, double c) {
    return check_sum(terms, c, 1, Semiring::max_times).passed;
  };
  EXPECT_TRUE(passes({largest}, kInfinity));
  EXPECT_FALSE(passes({0.6 * largest}, kInfinity));
  EXPECT_FALSE(passes({0.6 * largest, 0.6 * largest}, kInfinity));  // nothing is added
  EXPECT_TRUE(passes({1, 3, 2}, 3));
  EXPECT_FALSE(passes({1, 3, 2}, 2));
}

TEST(CheckSpgemm, SaysHowNearTheBoundItCame) {
  const CheckResult result = check_one(0.5, 2, ValueKind::f32, 1 + 0x1p-23, false);
  EXPECT_TRUE(result.passed);
  EXPECT_FALSE(result.sampled);
  EXPECT_EQ(result.rows_checked, 1);
  EXPECT_NEAR(result.worst_error_ratio, 0.5, 0.01);
  EXPECT_EQ(check_one(0.5, 2, ValueKind::f32, 9, false).failure.rfind("row 0, column 0: ", 0), 0u);
  EXPECT_TRUE(check_one(0.5, 2, ValueKind::f32, 1, true).sampled);
  // gamma(4) and gamma(7), and gamma(2) for C itself.
  EXPECT_TRUE(check_one(0.5, 2, ValueKind::f64, 1 + 12 * 0x1p-53, true).passed);
  EXPECT_FALSE(check_one(0.5, 2, ValueKind::f64, 1 + 14 * 0x1p-53, true).passed);
}

TEST(CheckSpgemm, RefusesIllegalProblemsAndTakesEmptyOnes) {
  EXPECT_THROW(check_one(1, 1, ValueKind::f32, 1, false, 1, -1), UsageError);
  SpgemmProblem problem = default_spgemm_problem(matrix_of(0, 0, {}), matrix_of(0, 0, {}));
  CheckOptions options;
  options.always_samples = true;
  EXPECT_TRUE(check_spgemm(problem, matrix_of(0, 0, {}, problem.c), options).passed);
}

/// A * A of 60 rows, row 30 of one entry: never sampled. C as it should be, by the reference.
struct Sampled {
  CsrMatrix a;
  std::vector<Entry> c;
  CheckOptions options;

  explicit Sampled(double value_in_row_30) {
    std::vector<Entry> entries;
    for (Index i = 0; i < 60; ++i) {
      for (Index j = 0; j < 60; ++j) {
        const bool is_there = i == 30 ? j == 5 : (i * 7 + j * 11) % 9 == 0;
        if (is_there) entries.push_back({i, j, i == 30 ? value_in_row_30 : 1.0 / (1 + i + j)});
      }
    }
    a = matrix_of(60, 60, entries);
    const SpgemmProblem whole = problem();
    ReferenceSpgemm reference(whole, a);
    std::vector<ReferenceProductEntry> row;
    for (Index i = 0; i < 60; ++i) {
      reference.row(i, row);
      for (const auto& entry : row) c.push_back({i, entry.col, entry.value});
    }
    options.always_samples = true;
    options.sampled_rows = 0;
  }
  SpgemmProblem problem() const { return default_spgemm_problem(a, a); }
  Entry& entry_of_row(Index row, std::size_t skip = 0) {
    for (Entry& entry : c) {
      if (entry.row == row && skip-- == 0) return entry;
    }
    return c.front();
  }
  bool passes() const { return check_spgemm(problem(), matrix_of(60, 60, c), options).passed; }
};

TEST(CheckSpgemm, SamplesTheHeaviestTheLastAndRandomRows) {
  std::vector<Entry> ones;
  for (Index i = 0; i < 60; ++i) ones.push_back({i, i, 1});
  const CsrMatrix identity = matrix_of(60, 60, ones);
  const SpgemmProblem problem = default_spgemm_problem(identity, identity);
  CheckOptions options;
  options.always_samples = true;
  options.sampled_rows = 0;
  EXPECT_EQ(check_spgemm(problem, identity, options).rows_checked, 17);  // 0 to 15, and 59
  options.sampled_rows = 1;
  for (options.seed = 1; options.seed < 6; ++options.seed) {
    const auto random = static_cast<Index>(below(random_word(options.seed, 1, 0), 60));
    const bool is_new = random > 15 && random < 59;
    EXPECT_EQ(check_spgemm(problem, identity, options).rows_checked, 17 + is_new) << random;
  }
  options.work_limit = 6;  // three rows of one product
  EXPECT_EQ(check_spgemm(problem, identity, options).rows_checked, 3);
  options.always_samples = false;
  options.work_limit = 120;
  EXPECT_FALSE(check_spgemm(problem, identity, options).sampled);
  options.work_limit = 119;
  EXPECT_TRUE(check_spgemm(problem, identity, options).sampled);
}

TEST(CheckSpgemm, SamplesUnderAMaskWithoutProjections) {
  Sampled product(1);
  SpgemmProblem problem = product.problem();
  problem.mask = product.a;
  std::vector<Entry> kept;
  ReferenceSpgemm reference(problem, product.a);
  std::vector<ReferenceProductEntry> row;
  for (Index i = 0; i < 60; ++i) {
    reference.row(i, row);
    for (const auto& entry : row) kept.push_back({i, entry.col, entry.value});
  }
  const CheckResult result = check_spgemm(problem, matrix_of(60, 60, kept), product.options);
  EXPECT_TRUE(result.passed) << result.failure;
}

TEST(CheckSpgemm, SampledRowsAreComparedEntryByEntry) {
  for (const double other : {-1.0, 1.0}) {  // one of them cancels in the projection
    Sampled product(1);
    ASSERT_TRUE(product.passes());
    product.entry_of_row(0, 0).value += 0.125;
    product.entry_of_row(0, 1).value += other * 0.125;
    EXPECT_FALSE(product.passes());
  }
}

TEST(CheckSpgemm, RowsThatAreNotFiniteAreComparedEntryByEntry) {
  Sampled infinite(kInfinity);
  ASSERT_TRUE(infinite.passes());
  infinite.entry_of_row(30).value = -kInfinity;
  EXPECT_FALSE(infinite.passes());
  for (Entry& entry : infinite.c) {
    if (entry.row == 30) entry.value = 1;
  }
  EXPECT_FALSE(infinite.passes());
  Sampled finite(1);
  finite.entry_of_row(30).value = kNan;
  EXPECT_FALSE(finite.passes());
}

/// However many rows are rightly infinite: one that is finite is compared, too.
TEST(CheckSpgemm, ARowThatShouldBeInfiniteIsComparedWhateverTheLimit) {
  constexpr Index kRows = 40;
  std::vector<Entry> infinite, ones;
  for (Index i = 0; i < kRows; ++i) {
    infinite.push_back({i, i, kInfinity});
    ones.push_back({i, i, 1});
  }
  const SpgemmProblem problem =
      default_spgemm_problem(matrix_of(kRows, kRows, infinite), matrix_of(kRows, kRows, ones));
  CheckOptions options;
  options.always_samples = true;
  options.sampled_rows = 0;
  options.work_limit = 4;  // two rows
  EXPECT_TRUE(check_spgemm(problem, matrix_of(kRows, kRows, infinite), options).passed);
  infinite[35].value = 1;
  EXPECT_FALSE(check_spgemm(problem, matrix_of(kRows, kRows, infinite), options).passed);
}

TEST(CheckSpgemm, OffsetsOfUnsortedRowsAreCheckedBeforeTheyAreFollowed) {
  const CsrMatrix one = matrix_of(2, 2, {{0, 0, 1}, {1, 1, 1}});
  SpgemmProblem problem = default_spgemm_problem(one, one);
  problem.sorts_rows = false;
  const std::vector<Offset> offsets{0, 1 << 22, 2};
  const CsrMatrix broken(2, 2, offsets.data(), one.col_indices(), problem.c, one.values(), nullptr);
  const CheckResult result = check_spgemm(problem, broken);
  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.failure.find("row offsets that never decrease"), std::string::npos);
}

TEST(CheckSpgemm, AThresholdIsJudgedWithinTheBound) {
  const auto with_entry = [](double threshold) {
    return check_one(0.5, 2, ValueKind::f32, 1, false, 1, threshold).passed;
  };
  EXPECT_TRUE(with_entry(1));
  EXPECT_FALSE(check_one(0.25, 2, ValueKind::f32, 0.5 - 0x1p-25, false, 1, 0.5).passed);
  EXPECT_FALSE(with_entry(1 + 0x1p-20));  // dropped for sure: 1 plus its bound is below
  const auto without_entry = [](double threshold) {
    SpgemmProblem problem = default_spgemm_problem(matrix_of(1, 1, {{0, 0, 0.5}}, ValueKind::f32),
                                                   matrix_of(1, 1, {{0, 0, 2}}, ValueKind::f32));
    problem.drop_below = threshold;
    return check_spgemm(problem, matrix_of(1, 1, {}, problem.c)).passed;
  };
  EXPECT_TRUE(without_entry(1));
  EXPECT_TRUE(without_entry(1 - 0x1p-23));
  EXPECT_FALSE(without_entry(1 - 0x1.8p-22));  // 1 less its bound is above
}

TEST(CheckSpgemm, TheRangeIsThatOfPartialSumsAndOfTheScaledResult) {
  const double largest = std::numeric_limits<float>::max(), big = 0.9 * largest;
  EXPECT_TRUE(check_sum({largest}, kInfinity, 0.5).passed);
  EXPECT_TRUE(check_sum({largest / 2}, kInfinity, 2).passed);
  for (const double found : {-kInfinity, kInfinity, kNan}) {
    EXPECT_TRUE(check_sum({-big, -big, big}, found, 0.125).passed);
    EXPECT_TRUE(check_sum({-big, -big, big}, found, -0.125).passed);
  }
  EXPECT_TRUE(check_sum({largest}, kInfinity, 1, Semiring::max_times).passed);
  EXPECT_TRUE(check_sum({-largest}, -kInfinity, 1, Semiring::max_times).passed);
  // Finite operands beyond float64: the reference has nothing to say.
  EXPECT_TRUE(check_one(1e308, 10, ValueKind::f64, 1.5e308, false).passed);
}

TEST(CheckSpgemm, SemiringsRoundOnce) {
  EXPECT_TRUE(check_sum({1}, 2, 1, Semiring::min_plus).passed);
  EXPECT_FALSE(check_sum({1}, 2 + 0x1p-22, 1, Semiring::min_plus).passed);
}

TEST(CheckSpgemm, NegativeFactorsNarrowNoBound) {
  const double tiny = 0x1p-149;
  EXPECT_TRUE(check_one(0, 1, ValueKind::f32, 64 * tiny, true, -8).passed);
  EXPECT_FALSE(check_one(0, 1, ValueKind::f32, 65 * tiny, true, -8).passed);
  EXPECT_TRUE(check_one(0.5, 2, ValueKind::f32, -8 - 0x1p-19, true, -8).passed);
  EXPECT_TRUE(check_one(0.5, -2, ValueKind::f32, -1 - 0x1p-22, true).passed);
  EXPECT_EQ(check_one(0.5, 2, ValueKind::f32, 1, true).worst_error_ratio, 0);
  EXPECT_EQ(check_one(0.5, 2, ValueKind::f32, 1, false).worst_error_ratio, 0);
  // At a threshold of 1, -1 may be there or not.
  EXPECT_TRUE(check_one(0.5, -2, ValueKind::f32, -1, false, 1, 1).passed);
}

TEST(CheckSpgemm, SamplesEveryRowOnceAndWhatTheLimitPaysFor) {
  std::vector<Entry> entries;
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < (i == 0 || i == 39 ? 1 : i == 30 ? 9 : 5); ++j) {
      entries.push_back({i, (i + 2 * j) % 40, 1.0 + i});
    }
  }
  std::vector<Entry> ones;
  for (Index i = 0; i < 40; ++i) ones.push_back({i, i, 1});
  const CsrMatrix a = matrix_of(40, 40, entries);
  SpgemmProblem problem = default_spgemm_problem(a, matrix_of(40, 40, ones));
  CheckOptions options;
  options.always_samples = true;
  const auto check = [&](const std::vector<Entry>& c) {
    return check_spgemm(problem, matrix_of(40, 40, c), options);
  };
  options.work_limit = 0;
  options.always_samples = false;
  EXPECT_FALSE(check(entries).sampled);
  options.always_samples = true;
  options.work_limit = CheckOptions().work_limit;
  options.sampled_rows = 4000;
  EXPECT_EQ(check(entries).rows_checked, 40);
  problem.semiring = Semiring::max_times;
  EXPECT_EQ(check(entries).rows_checked, 40);
  options.sampled_rows = 0;  // the heaviest 16, the first and the last
  EXPECT_EQ(check(entries).rows_checked, 18);
  for (const Index row : {0, 30, 39}) {
    std::vector<Entry> wrong = entries;
    for (Entry& entry : wrong) entry.value += entry.row == row ? 1 : 0;
    EXPECT_FALSE(check(wrong).passed) << row;
  }
  options.work_limit = 10 + 2 * 6;  // row 30, two others
  EXPECT_EQ(check(entries).rows_checked, 3);
  options.work_limit = 10 + 2 * 6 - 1;
  EXPECT_EQ(check(entries).rows_checked, 4);  // row 30, one other, the first and the last
  // Rows that are not finite: those of C alone all, those of both as far as the limit goes.
  problem.semiring = Semiring::plus_times;
  std::vector<Entry> spoilt = entries;
  spoilt.front().value = kNan;
  options.work_limit = CheckOptions().work_limit;
  EXPECT_EQ(check(spoilt).rows_checked, 18);  // row 0 is among them already
  for (Entry& entry : spoilt) entry.value = entry.row >= 20 ? kNan : entry.value;
  problem.a = matrix_of(40, 40, spoilt);
  options.work_limit = 3 * 6;
  EXPECT_LE(check(spoilt).rows_checked, 7);
  EXPECT_TRUE(check(spoilt).passed) << check(spoilt).failure;
}

}  // namespace
}  // namespace csrkit

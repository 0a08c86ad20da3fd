#include "core/judge/compare.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/judge/reference.h"

namespace csrkit {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// rows x cols with `per_row` random entries in a row, row 3 full, row 4 empty.
CsrMatrix example_matrix(Index rows, Index cols, Index per_row, ValueKind kind = ValueKind::f32) {
  Buffer<Offset> row_offsets(rows + 1);
  row_offsets[0] = 0;
  const auto length = [&](Index row) { return row == 3 ? cols : row == 4 ? 0 : per_row; };
  for (Index row = 0; row < rows; ++row) row_offsets[row + 1] = row_offsets[row] + length(row);
  const Offset nnz = row_offsets[rows];
  Buffer<Index> col_indices(nnz);
  Buffer<double> values(nnz);
  for (Index row = 0; row < rows; ++row) {
    const Index stride = length(row) == 0 ? 1 : cols / length(row);
    for (Index k = 0; k < length(row); ++k) {
      const Offset at = row_offsets[row] + k;
      col_indices[at] = k * stride + (stride > 1 ? row % stride : 0);
      values[at] = random_value(1, row, k);
    }
  }
  return convert_values(CsrMatrix(rows, cols, std::move(row_offsets), std::move(col_indices),
                                  ValueArray::from(std::move(values))),
                        kind);
}

/// C as an honest implementation would compute it: the reference, rounded to C's kind.
void multiply_honestly(const SpmmProblem& problem, const DenseMatrix& b, double alpha, double beta,
                       const ConstDenseView* c0, DenseMatrix& c) {
  const CsrMatrix op_a = problem.transpose_a ? transpose(problem.a) : problem.a;
  std::vector<ReferenceEntry> row(static_cast<std::size_t>(problem.dense_cols));
  for (Index i = 0; i < c.rows(); ++i) {
    reference_spmm_row(op_a, b.view(), problem.semiring, alpha, beta, c0, i, row.data());
    for (Index j = 0; j < c.cols(); ++j) {
      c.view().set(i, j, row[static_cast<std::size_t>(j)].value);
    }
  }
}

struct Fixture {
  SpmmProblem problem;
  DenseMatrix b, c;

  explicit Fixture(const CsrMatrix& a, Index dense_cols, bool transpose_a = false,
                   Semiring semiring = Semiring::plus_times) {
    problem = default_spmm_problem(a, dense_cols);
    problem.transpose_a = transpose_a;
    problem.semiring = semiring;
    b = DenseMatrix(problem.input_rows(), dense_cols, problem.b);
    c = DenseMatrix(problem.output_rows(), dense_cols, problem.c);
    fill_random(b.view(), 2);
    multiply_honestly(problem, b, 1, 0, nullptr, c);
  }

  CheckResult check(const CheckOptions& options = {}) {
    return check_spmm(problem, std::as_const(b).view(), 1, 0, nullptr, std::as_const(c).view(),
                      options);
  }
  double at(Index i, Index j) { return std::as_const(c).view().at(i, j); }
};

/// Forces the sampled check: the budget pays for a few of the rows.
CheckOptions sampling() {
  CheckOptions options;
  options.work_limit = 6000;
  options.sampled_rows = 4;
  return options;
}

struct Fault {
  const char* name;
  std::function<void(Fixture&)> plant;
};

// Two error bounds off in one entry show in a sampled check only if the row is sampled: this one is
// the longest row. Faults that spoil more are planted where no row is sampled on purpose.
const Fault kFaults[] = {
    {"OneEntryTwoBoundsOff",
     [](Fixture& f) {
       std::vector<ReferenceEntry> row(static_cast<std::size_t>(f.problem.dense_cols));
       reference_spmm_row(f.problem.a, std::as_const(f.b).view(), Semiring::plus_times, 1, 0,
                          nullptr, 3, row.data());
       const double bound =
           spmm_error_bound(f.problem, f.problem.a.row_length(3), row[5].value, row[5].magnitude);
       f.c.view().set(3, 5, row[5].value + 2 * bound);
     }},
    {"OneEntryVisiblyOff", [](Fixture& f) { f.c.view().set(120, 2, f.at(120, 2) + 1e-3); }},
    {"OneNan", [](Fixture& f) { f.c.view().set(131, 7, kNan); }},
    {"OneInfinity", [](Fixture& f) { f.c.view().set(131, 7, kInfinity); }},
    {"EmptyRowNotZeroed", [](Fixture& f) { f.c.view().set(4, 0, 0.25); }},
    {"LastRowMissing",
     [](Fixture& f) {
       for (Index j = 0; j < f.c.cols(); ++j) f.c.view().set(f.c.rows() - 1, j, 0);
     }},
    {"LastColumnMissing",
     [](Fixture& f) {
       for (Index i = 0; i < f.c.rows(); ++i) f.c.view().set(i, f.c.cols() - 1, 0);
     }},
    {"ValuesTakenAsOne",
     [](Fixture& f) {
       SpmmProblem ones = f.problem;
       ones.a = convert_values(f.problem.a, ValueKind::none);
       multiply_honestly(ones, f.b, 1, 0, nullptr, f.c);
     }},
    {"Transposed",
     [](Fixture& f) {
       SpmmProblem other = f.problem;
       other.transpose_a = true;
       multiply_honestly(other, f.b, 1, 0, nullptr, f.c);
     }},
    {"RowsSwapped",
     [](Fixture& f) {
       for (Index j = 0; j < f.c.cols(); ++j) {
         const double above = f.at(90, j);
         f.c.view().set(90, j, f.at(91, j));
         f.c.view().set(91, j, above);
       }
     }},
    {"ColumnsSwapped",
     [](Fixture& f) {
       for (Index i = 0; i < f.c.rows(); ++i) {
         const double left = f.at(i, 1);
         f.c.view().set(i, 1, f.at(i, 6));
         f.c.view().set(i, 6, left);
       }
     }},
    {"TermLost",
     [](Fixture& f) {
       const Offset at = f.problem.a.row_offsets()[150];
       const double a = f.problem.a.view<float>().values[at];
       const Index k = f.problem.a.col_indices()[at];
       for (Index j = 0; j < f.c.cols(); ++j) {
         f.c.view().set(150, j, f.at(150, j) - a * std::as_const(f.b).view().at(k, j));
       }
     }},
};

class PlantedFault : public ::testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsCaughtByTheFullCheck) {
  Fixture f(example_matrix(200, 200, 8), 12);
  ASSERT_TRUE(f.check().passed);
  GetParam().plant(f);
  const CheckResult result = f.check();
  EXPECT_FALSE(result.sampled);
  EXPECT_FALSE(result.passed);
  EXPECT_GT(result.worst_error_ratio, 1);
  EXPECT_EQ(result.failure.rfind("row ", 0), 0u) << result.failure;
}

TEST_P(PlantedFault, IsCaughtByTheSampledCheck) {
  Fixture f(example_matrix(200, 200, 8), 12);
  const CheckResult before = f.check(sampling());
  ASSERT_TRUE(before.passed) << before.failure;
  ASSERT_TRUE(before.sampled);
  EXPECT_LT(before.rows_checked, 40);
  GetParam().plant(f);
  EXPECT_FALSE(f.check(sampling()).passed);
}

INSTANTIATE_TEST_SUITE_P(CheckSpmm, PlantedFault, ::testing::ValuesIn(kFaults),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(CheckSpmm, NamesTheFirstWrongEntry) {
  Fixture f(example_matrix(50, 50, 4), 3);
  f.c.view().set(40, 0, 9);
  f.c.view().set(7, 2, 8);
  f.c.view().set(7, 1, 8);
  const CheckResult result = f.check();
  EXPECT_EQ(result.failure.rfind("row 7, column 1: expected ", 0), 0u) << result.failure;
  EXPECT_NE(result.failure.find("found 8,"), std::string::npos) << result.failure;
}

TEST(CheckSpmm, BoundFollowsTheFormula) {
  SpmmProblem problem = default_spmm_problem(CsrMatrix(), 1);
  problem.b = problem.accumulate = problem.c = ValueKind::f32;
  const double u = 0x1p-24;
  // 1 term: gamma(4) * 2, once in f32 and once in f64, and 4 subnormals.
  EXPECT_NEAR(spmm_error_bound(problem, 1, 1.0, 2.0), 8 * u / (1 - 4 * u), 1e-14);
  EXPECT_EQ(spmm_error_bound(problem, 0, 0.0, 0.0), 3 * 0x1p-149);
  EXPECT_EQ(spmm_error_bound(problem, 0, 0.0, 0.0, -8), 24 * 0x1p-149);
  // 2^24 terms: m u > 1/2, 2 m u.
  EXPECT_NEAR(spmm_error_bound(problem, 1 << 24, 0.0, 1.0), 2 * (1 + 3 * u), 1e-6);
  problem.semiring = Semiring::min_plus;
  EXPECT_NEAR(spmm_error_bound(problem, 5, -8.0, 9.0), 8 * u, 1e-14);
  problem.semiring = Semiring::plus_times;
  problem.b = problem.c = ValueKind::f16;
  EXPECT_NEAR(spmm_error_bound(problem, 1, 1.0, 1.0), 0x1p-11 + 4 * u, 1e-6);
  problem.semiring = Semiring::or_and;
  EXPECT_EQ(spmm_error_bound(problem, 9, 1.0, 1.0), 0);
}

TEST(CheckSpmm, AcceptsEveryOrderOfSummation) {
  // One row of 4096 terms summed backwards in f32.
  const CsrMatrix a = example_matrix(5, 4096, 1);
  Fixture f(a, 1);
  float sum = 0;
  for (Offset at = a.row_offsets()[4] - 1; at >= a.row_offsets()[3]; --at) {
    sum += a.view<float>().values[at] * f.b.view().as<float>()[a.col_indices()[at]];
  }
  f.c.view().set(3, 0, sum);
  const CheckResult result = f.check();
  EXPECT_TRUE(result.passed) << result.failure;
  EXPECT_GT(result.worst_error_ratio, 0);
}

TEST(CheckSpmm, AlphaAndBetaEnterTheExpectation) {
  const CsrMatrix a = example_matrix(30, 30, 5, ValueKind::f64);
  Fixture f(a, 4);
  DenseMatrix before(30, 4, ValueKind::f64);
  fill_random(before.view(), 8);
  const ConstDenseView c0 = std::as_const(before).view();
  multiply_honestly(f.problem, f.b, -2.5, 0.75, &c0, f.c);
  const auto b = std::as_const(f.b).view();
  const auto c = std::as_const(f.c).view();
  for (const CheckOptions& options : {CheckOptions{}, sampling()}) {
    EXPECT_TRUE(check_spmm(f.problem, b, -2.5, 0.75, &c0, c, options).passed);
    EXPECT_FALSE(check_spmm(f.problem, b, -2.5, 0.7, &c0, c, options).passed);
    EXPECT_FALSE(check_spmm(f.problem, b, 2.5, 0.75, &c0, c, options).passed);
    EXPECT_FALSE(check_spmm(f.problem, b, -2.5, 0, nullptr, c, options).passed);
  }
  EXPECT_THROW(check_spmm(f.problem, b, 1, 1, nullptr, c), UsageError);
}

TEST(CheckSpmm, ExpectedNansAndInfinitiesMustBeThere) {
  for (const bool sampled : {false, true}) {
    Fixture f(example_matrix(200, 200, 8), 12);
    f.b.view().set(9, 1, kNan);
    f.b.view().set(10, 2, kInfinity);
    f.b.view().set(11, 3, -kInfinity);
    multiply_honestly(f.problem, f.b, 1, 0, nullptr, f.c);
    CheckOptions options = sampled ? sampling() : CheckOptions{};
    options.work_limit *= 4;
    ASSERT_TRUE(f.check(options).passed) << f.check(options).failure;
    ASSERT_EQ(f.check(options).sampled, sampled && 4 * 6000 < (8 * 200 + 200) * 12 + 200 * 12);
    f.c.view().set(3, 1, 0);  // row 3 is full: NaN is due
    EXPECT_FALSE(f.check(options).passed);
    f.c.view().set(3, 1, kInfinity);
    EXPECT_FALSE(f.check(options).passed);
    f.c.view().set(3, 1, kNan);
    ASSERT_TRUE(f.check(options).passed);
    f.c.view().set(3, 2, -f.at(3, 2));  // the other infinity
    EXPECT_FALSE(f.check(options).passed);
  }
}

TEST(CheckSpmm, OverflowIsAllowedOnlyWhereItCanHappen) {
  // 3e38 + 3e38 - 3e38 in f32: infinite or not, depending on the order.
  Buffer<Offset> row_offsets(3);
  Buffer<Index> col_indices(6);
  Buffer<float> values(6);
  for (Index i = 0; i < 3; ++i) row_offsets[i] = 3 * i;
  for (Offset at = 0; at < 6; ++at) {
    col_indices[at] = static_cast<Index>(at % 3);
    values[at] = at < 3 ? (at == 2 ? -3e38f : 3e38f) : 1.0f;
  }
  Fixture f(CsrMatrix(2, 3, std::move(row_offsets), std::move(col_indices),
                      ValueArray::from(std::move(values))),
            1);
  for (Index k = 0; k < 3; ++k) f.b.view().set(k, 0, 1);
  for (const double possible : {3e38, kInfinity, kNan}) {
    f.c.view().set(0, 0, possible);
    f.c.view().set(1, 0, 3);
    EXPECT_TRUE(f.check().passed) << possible << ": " << f.check().failure;
  }
  f.c.view().set(0, 0, 1e38);
  EXPECT_FALSE(f.check().passed);
  f.c.view().set(0, 0, 3e38);
  f.c.view().set(1, 0, kInfinity);
  EXPECT_FALSE(f.check().passed);
}

TEST(CheckSpmm, StoringInSixteenBitsMayOverflowToTheRightSign) {
  Buffer<Offset> row_offsets(2);
  row_offsets[0] = 0;
  row_offsets[1] = 1;
  Buffer<Index> col_indices(1);
  col_indices[0] = 0;
  Buffer<double> values(1);
  values[0] = -300;
  const CsrMatrix a = convert_values(CsrMatrix(1, 1, std::move(row_offsets), std::move(col_indices),
                                               ValueArray::from(std::move(values))),
                                     ValueKind::f16);
  Fixture f(a, 1);
  f.problem.c = ValueKind::f16;
  f.c = DenseMatrix(1, 1, ValueKind::f16);
  f.b.view().set(0, 0, 300);  // -90000 is beyond -65504
  f.c.view().set(0, 0, -kInfinity);
  EXPECT_TRUE(f.check().passed) << f.check().failure;
  for (const double wrong : {kInfinity, kNan, -65504.0, 0.0}) {
    f.c.view().set(0, 0, wrong);
    EXPECT_FALSE(f.check().passed) << wrong;
  }
}

TEST(CheckSpmm, OtherSemiringsAreJudgedInEveryRow) {
  for (const Semiring semiring : {Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    for (const CheckOptions& options : {CheckOptions{}, sampling()}) {
      Fixture f(example_matrix(200, 200, 8), 12, false, semiring);
      EXPECT_TRUE(f.check(options).passed) << f.check(options).failure;
      for (Index j = 0; j < 12; ++j) f.c.view().set(133, j, f.at(133, j) + 1);
      EXPECT_FALSE(f.check(options).passed) << name_of(semiring);
    }
  }
}

TEST(CheckSpmm, TransposedProblemsAndEmptyOnes) {
  Fixture f(example_matrix(60, 30, 6), 5, true);
  EXPECT_TRUE(f.check().passed) << f.check().failure;
  EXPECT_TRUE(f.check(sampling()).passed) << f.check(sampling()).failure;
  Fixture empty(CsrMatrix(), 5);
  EXPECT_TRUE(empty.check().passed);
  EXPECT_TRUE(empty.check(sampling()).passed);
}

TEST(CheckSpmm, RefusesOperandsThatDoNotFit) {
  Fixture f(example_matrix(20, 20, 4), 2);
  const DenseMatrix wrong(19, 2, ValueKind::f32);
  const ConstDenseView b = std::as_const(f.b).view();
  EXPECT_THROW(check_spmm(f.problem, b, 1, 0, nullptr, wrong.view()), UsageError);
  const ConstDenseView c = std::as_const(f.c).view();
  const auto on_device = [](ConstDenseView view) {
    view.space = MemorySpace::device;
    return view;
  };
  EXPECT_THROW(check_spmm(f.problem, on_device(b), 1, 0, nullptr, c), UsageError);
  EXPECT_THROW(check_spmm(f.problem, b, 1, 0, nullptr, on_device(c)), UsageError);
  const ConstDenseView before = on_device(c);
  EXPECT_THROW(check_spmm(f.problem, b, 1, 1, &before, c), UsageError);
}

/// A product of 1 x 1 matrices: one term, with C as somebody computed it.
struct OneTerm {
  Fixture f;

  OneTerm(double a, double b, ValueKind kind) : f(one_entry(a, kind), 1) {
    f.b.view().set(0, 0, b);
  }
  static CsrMatrix one_entry(double value, ValueKind kind) {
    Buffer<Offset> row_offsets(2);
    row_offsets[0] = 0;
    row_offsets[1] = 1;
    Buffer<Index> col_indices(1);
    col_indices[0] = 0;
    Buffer<double> values(1);
    values[0] = value;
    return convert_values(CsrMatrix(1, 1, std::move(row_offsets), std::move(col_indices),
                                    ValueArray::from(std::move(values))),
                          kind);
  }
  /// Entry by entry, or by the projection alone, because no row is within the limit.
  CheckResult check(double c, bool by_projection, double alpha = 1) {
    f.c.view().set(0, 0, c);
    CheckOptions options;
    options.always_samples = by_projection;
    if (by_projection) options.work_limit = 1;
    return check_spmm(f.problem, std::as_const(f.b).view(), alpha, 0, nullptr,
                      std::as_const(f.c).view(), options);
  }
};

TEST(CheckSpmm, WhatIsAddedMayTakeTheSumOutOfTheRange) {
  const double most = std::numeric_limits<double>::max();
  const auto takes = [](double product, double before, double found) {
    OneTerm one(product, 1, ValueKind::f64);
    one.f.c.view().set(0, 0, found);
    DenseMatrix c0(1, 1, ValueKind::f64);
    c0.view().set(0, 0, before);
    const ConstDenseView added = std::as_const(c0).view();
    return check_spmm(one.f.problem, std::as_const(one.f.b).view(), 1, 1, &added,
                      std::as_const(one.f.c).view())
        .passed;
  };
  EXPECT_TRUE(takes(0.75 * most, 0.75 * most, kInfinity));
  EXPECT_TRUE(takes(-0.75 * most, 0.75 * most, 0));
  EXPECT_TRUE(takes(kInfinity, most, kInfinity));
  EXPECT_FALSE(takes(kInfinity, most, 5));
  EXPECT_FALSE(takes(0.25 * most, 0.25 * most, kInfinity));
}

TEST(CheckSpmm, AcceptsUpToTheBoundAndNoFurther) {
  for (const bool by_projection : {false, true}) {
    // One term: gamma(4), which is two units in the last place of 1 in f32, twice that in f64.
    for (const auto& [kind, bound] :
         {std::pair{ValueKind::f32, 0x1p-22}, {ValueKind::f64, 0x1p-50}}) {
      OneTerm product(0.5, 2, kind);
      for (const double sign : {-1.0, 1.0}) {
        EXPECT_TRUE(product.check(1 + sign * bound, by_projection).passed) << by_projection;
        const CheckResult off = product.check(1 + sign * 1.5 * bound, by_projection);
        // In f64 the projection rounds as often as the product does.
        const bool is_doubled = by_projection && kind == ValueKind::f64;
        EXPECT_EQ(off.passed, is_doubled) << off.worst_error_ratio;
        EXPECT_FALSE(product.check(1 + sign * 5 * bound, by_projection).passed);
        if (!is_doubled) {
          EXPECT_NEAR(off.worst_error_ratio, 1.5, 0.01);
        }
      }
    }
  }
}

TEST(CheckSpmm, TheProjectionCountsItsOwnRoundings) {
  OneTerm product(0.5, 2, ValueKind::f64);
  const double unit = 0x1p-53;  // gamma(4) + gamma(8), and gamma(2) for C itself
  EXPECT_TRUE(product.check(1 + 14 * unit, true).passed);
  EXPECT_FALSE(product.check(1 + 16 * unit, true).passed);
}

TEST(CheckSpmm, TheProjectionKnowsBeta) {
  OneTerm product(0.5, 2, ValueKind::f32);
  DenseMatrix before(1, 1, ValueKind::f32);
  before.view().set(0, 0, 4);
  const ConstDenseView c0 = std::as_const(before).view();
  CheckOptions options;
  options.always_samples = true;
  options.work_limit = 1;
  for (const auto& [c, is_right] : {std::pair{3.0, true}, {1.0, false}, {3.001, false}}) {
    product.f.c.view().set(0, 0, c);
    const CheckResult result = check_spmm(product.f.problem, std::as_const(product.f.b).view(), 1,
                                          0.5, &c0, std::as_const(product.f.c).view(), options);
    EXPECT_EQ(result.passed, is_right) << c;
    EXPECT_EQ(result.rows_checked, 0);
  }
}

TEST(CheckSpmm, TheProjectionCountsTheRoundingsOfBeta) {
  OneTerm product(0, 1, ValueKind::f32);
  DenseMatrix before(1, 1, ValueKind::f32);
  before.view().set(0, 0, 4);
  const ConstDenseView c0 = std::as_const(before).view();
  CheckOptions options;
  options.always_samples = true;
  options.work_limit = 1;
  for (const auto& [c, is_right] : {std::pair{-2 - 0x1p-21, true}, {-2 - 0x1.8p-21, false}}) {
    product.f.c.view().set(0, 0, c);
    EXPECT_EQ(check_spmm(product.f.problem, std::as_const(product.f.b).view(), 1, -0.5, &c0,
                         std::as_const(product.f.c).view(), options)
                  .passed,
              is_right);
  }
}

/// Rows 1 to 30 have two entries, row 31 has one, the others none: 16 long rows, the first, the
/// last one with entries and the last one are sampled.
Fixture forty_rows() {
  Buffer<Offset> row_offsets(41);
  row_offsets[0] = 0;
  for (Index row = 0; row < 40; ++row) {
    const Offset length = row >= 1 && row <= 30 ? 2 : row == 31 ? 1 : 0;
    row_offsets[row + 1] = row_offsets[row] + length;
  }
  Buffer<Index> col_indices(61);
  Buffer<float> values(61);
  for (Offset at = 0; at < 61; ++at) {
    col_indices[at] = static_cast<Index>(at % 2 == 0 ? at / 2 : at / 2 + 1);
    values[at] = 1;
  }
  return Fixture(CsrMatrix(40, 40, std::move(row_offsets), std::move(col_indices),
                           ValueArray::from(std::move(values))),
                 2);
}

TEST(CheckSpmm, SamplesTheRowsThatAreMostLikelyWrong) {
  Fixture f = forty_rows();
  CheckOptions options;
  options.always_samples = true;
  options.sampled_rows = 0;
  EXPECT_EQ(f.check(options).rows_checked, 19);
  EXPECT_EQ(f.check(options).worst_error_ratio > 0, f.check().worst_error_ratio > 0);
  // Rows that are not finite, and not sampled, are compared as well: two read row 24 of B.
  f.b.view().set(24, 0, kInfinity);
  multiply_honestly(f.problem, f.b, 1, 0, nullptr, f.c);
  ASSERT_EQ(f.at(25, 0), kInfinity);
  EXPECT_TRUE(f.check(options).passed) << f.check(options).failure;
  EXPECT_EQ(f.check(options).rows_checked, 21);
  f.c.view().set(25, 0, -kInfinity);
  EXPECT_FALSE(f.check(options).passed);
  options.work_limit = 1;  // pays for no row
  EXPECT_EQ(f.check(options).rows_checked, 0);
}

TEST(CheckSpmm, StoringInSixteenBitsUnderflowsEarlier) {
  for (const bool by_projection : {false, true}) {
    OneTerm product(0, 1, ValueKind::f16);
    product.f.problem.c = ValueKind::f16;
    product.f.c = DenseMatrix(1, 1, ValueKind::f16);
    EXPECT_TRUE(product.check(4 * 0x1p-24, by_projection).passed);
    EXPECT_FALSE(product.check(5 * 0x1p-24, by_projection).passed);
  }
}

TEST(CheckSpmm, SpendsItsLimitAndNoMore) {
  // One row of one term and one column: 2 multiply-adds.
  Fixture one(OneTerm::one_entry(1, ValueKind::f32), 1);
  CheckOptions options;
  options.work_limit = 2;
  EXPECT_FALSE(one.check(options).sampled);
  options.always_samples = true;
  EXPECT_EQ(one.check(options).rows_checked, 1);
  options.work_limit = 1;
  EXPECT_EQ(one.check(options).rows_checked, 0);
  options.always_samples = false;
  EXPECT_TRUE(one.check(options).sampled);
  // The 16 longest rows, row 0 among them, and the last one.
  Fixture many(example_matrix(200, 200, 8), 12);
  options.always_samples = true;
  options.sampled_rows = 0;
  options.work_limit = CheckOptions().work_limit;
  EXPECT_EQ(many.check(options).rows_checked, 17);
  Fixture empty(OneTerm::one_entry(1, ValueKind::f32), 3, true);
  EXPECT_TRUE(empty.check(options).passed);
}

TEST(CheckSpmm, SamplesAMatrixOfEmptyRows) {
  Buffer<Offset> row_offsets(6);
  std::fill(row_offsets.begin(), row_offsets.end(), Offset{0});
  Fixture f(CsrMatrix(5, 4, std::move(row_offsets), Buffer<Index>(), ValueArray(ValueKind::f32, 0)),
            3);
  CheckOptions options;
  options.always_samples = true;
  EXPECT_TRUE(f.check(options).passed) << f.check(options).failure;
  f.c.view().set(2, 1, 1);
  EXPECT_FALSE(f.check(options).passed);
}

TEST(CheckSpmm, AllowsGradualUnderflowAndNoMore) {
  const double tiny = 0x1p-149;
  for (const bool by_projection : {false, true}) {
    OneTerm product(0, 1, ValueKind::f32);
    EXPECT_TRUE(product.check(4 * tiny, by_projection).passed);
    EXPECT_FALSE(product.check(5 * tiny, by_projection).passed);
    EXPECT_TRUE(product.check(32 * tiny, by_projection, -8).passed);
    EXPECT_FALSE(product.check(33 * tiny, by_projection, -8).passed);
  }
}

TEST(CheckSpmm, KnowsWhereTheRangeEnds) {
  const double largest = std::numeric_limits<float>::max();
  OneTerm inside(largest * 0.6, 1, ValueKind::f32);
  EXPECT_FALSE(inside.check(kInfinity, false).passed);
  EXPECT_FALSE(inside.check(-kInfinity, false).passed);
  OneTerm at_the_end(largest, 1, ValueKind::f32);
  EXPECT_TRUE(at_the_end.check(largest, false).passed);
  EXPECT_TRUE(at_the_end.check(kInfinity, false).passed);  // one rounding up
  // Four roundings below the end is inside, three are not.
  const double last_place = 0x1p104;
  EXPECT_FALSE(OneTerm(largest - 4 * last_place, 1, ValueKind::f32).check(kInfinity, false).passed);
  EXPECT_TRUE(OneTerm(largest - 3 * last_place, 1, ValueKind::f32).check(kInfinity, false).passed);
  EXPECT_FALSE(OneTerm(0.9 * largest, 0.25, ValueKind::f32).check(kInfinity, false).passed);
  // Beyond float64 the reference has nothing to say.
  EXPECT_TRUE(OneTerm(1e308, 10, ValueKind::f64).check(1.5e308, false).passed);
  OneTerm scaled(largest * 0.3, 1, ValueKind::f32);
  EXPECT_TRUE(scaled.check(kInfinity, false, 4).passed);
  EXPECT_FALSE(scaled.check(kInfinity, false, 2).passed);
}

TEST(Compare, AlwaysSamplesIfAsked) {
  Fixture fixture(example_matrix(200, 200, 8), 12);
  EXPECT_FALSE(fixture.check().sampled);
  CheckOptions options;
  options.always_samples = true;
  const CheckResult right = fixture.check(options);
  EXPECT_TRUE(right.passed) << right.failure;
  EXPECT_TRUE(right.sampled);
  fixture.c.view().set(120, 2, fixture.at(120, 2) + 1e-3);
  EXPECT_FALSE(fixture.check(options).passed);
}

/// Whole numbers: sums without rounding. Row 3 has 64 entries, row 4 none, the others 8.
Fixture exact_product(Semiring semiring = Semiring::plus_times) {
  Fixture f(example_matrix(64, 64, 8, ValueKind::none), 6, false, semiring);
  for (Index i = 0; i < 64; ++i) {
    for (Index j = 0; j < 6; ++j) f.b.view().set(i, j, (7 * i + 3 * j) % 11 - 5);
  }
  multiply_honestly(f.problem, f.b, 1, 0, nullptr, f.c);
  return f;
}

TEST(CheckSpmm, SaysHowNearTheBoundItCame) {
  CheckOptions sampled = sampling();
  sampled.always_samples = true;
  CheckOptions by_projection = sampled;
  by_projection.work_limit = 1;
  for (const CheckOptions& options : {CheckOptions{}, sampled, by_projection}) {
    Fixture f = exact_product();
    EXPECT_EQ(f.check(options).worst_error_ratio, 0);
    EXPECT_EQ(f.check(options).rows_checked == 64, !f.check(options).sampled);
    std::vector<ReferenceEntry> row(6);
    reference_spmm_row(f.problem.a, std::as_const(f.b).view(), Semiring::plus_times, 1, 0, nullptr,
                       3, row.data());
    f.c.view().set(
        3, 5, row[5].value + spmm_error_bound(f.problem, 64, row[5].value, row[5].magnitude) / 2);
    const double ratio = f.check(options).worst_error_ratio;
    if (options.work_limit == 1) {
      EXPECT_GT(ratio, 0.02);  // a sixth of a half: the bound is that of the whole row
      EXPECT_LT(ratio, 0.2);
    } else {
      EXPECT_NEAR(ratio, 0.5, 0.02);
    }
  }
}

TEST(CheckSpmm, NegativeFactorsAndResultsNarrowNoBound) {
  CheckOptions sampled = sampling();
  sampled.always_samples = true;
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f16}) {
    for (const CheckOptions& options : {CheckOptions{}, sampled}) {
      Fixture f(example_matrix(64, 64, 8, kind), 6);
      f.problem.c = kind;
      f.c = DenseMatrix(64, 6, kind);
      multiply_honestly(f.problem, f.b, -2, 0, nullptr, f.c);
      const CheckResult result = check_spmm(f.problem, std::as_const(f.b).view(), -2, 0, nullptr,
                                            std::as_const(f.c).view(), options);
      EXPECT_TRUE(result.passed) << result.failure;
      EXPECT_LT(result.worst_error_ratio, 1);
      EXPECT_GT(result.worst_error_ratio, 0);
    }
  }
}

TEST(CheckSpmm, ABetaOfOneAddsWhatWasThere) {
  Fixture f(example_matrix(20, 20, 4), 2);
  const Fixture before(example_matrix(20, 20, 5), 2);
  const ConstDenseView c0 = before.c.view();
  multiply_honestly(f.problem, f.b, 1, 1, &c0, f.c);
  const auto check = [&] {
    return check_spmm(f.problem, std::as_const(f.b).view(), 1, 1, &c0, std::as_const(f.c).view());
  };
  EXPECT_TRUE(check().passed) << check().failure;
  multiply_honestly(f.problem, f.b, 1, 0, nullptr, f.c);
  EXPECT_FALSE(check().passed);
}

TEST(CheckSpmm, SamplesEveryRowOnceAndWhatTheLimitPaysFor) {
  CheckOptions options;
  options.always_samples = true;
  Fixture small(example_matrix(6, 6, 2), 2, false, Semiring::min_plus);
  EXPECT_EQ(small.check(options).rows_checked, 6);  // of 256 random ones
  Fixture f(example_matrix(64, 64, 8), 6, false, Semiring::min_plus);
  EXPECT_GT(f.check(options).rows_checked, 40);
  options.sampled_rows = 0;
  EXPECT_EQ(f.check(options).rows_checked, 17);
  options.work_limit = 65 * 6 + 2 * 9 * 6;  // row 3, two others
  EXPECT_EQ(f.check(options).rows_checked, 3);
  options.work_limit = 65 * 6 + 2 * 9 * 6 - 1;
  EXPECT_EQ(f.check(options).rows_checked, 2);
  // Row 4 has no entries and costs its columns.
  Fixture empty_row(example_matrix(5, 8, 8), 6, false, Semiring::min_plus);
  options.work_limit = 4 * 9 * 6 + 6;
  EXPECT_EQ(empty_row.check(options).rows_checked, 5);
  // Rows that are not finite are extra: some on one side, as many on both as the limit pays for.
  Fixture spoilt = exact_product();
  options.work_limit = 65 * 6 + 16 * 9 * 6;
  ASSERT_EQ(spoilt.check(options).rows_checked, 17);
  spoilt.c.view().set(40, 1, kNan);
  EXPECT_EQ(spoilt.check(options).rows_checked, 18);
  spoilt.b.view().set(5, 0, kNan);  // in some rows of both sides
  multiply_honestly(spoilt.problem, spoilt.b, 1, 0, nullptr, spoilt.c);
  EXPECT_EQ(spoilt.check(options).rows_checked, 17);
  options.work_limit += 3 * 9 * 6;  // rows 5 and 13, which are there already, and 21
  EXPECT_EQ(spoilt.check(options).rows_checked, 18);
}

TEST(CheckSpmm, OtherSemiringsAreSampledInEveryColumn) {
  int caught = 0;
  CheckOptions options;
  options.always_samples = true;
  options.sampled_rows = 0;
  for (options.seed = 1; options.seed <= 8; ++options.seed) {
    Fixture f(example_matrix(64, 64, 8), 2, false, Semiring::min_plus);
    f.c.view().set(40, 1, f.at(40, 1) + 1);
    caught += !f.check(options).passed;
  }
  EXPECT_GT(caught, 3);  // two columns are drawn of two: in three of four cases the second is
}

TEST(CheckSpmm, PartialSumsMayLeaveTheRangeWhereTheResultDoesNot) {
  const double big = 0.9 * std::numeric_limits<float>::max();
  const auto check = [](const std::vector<double>& terms, double found, double alpha,
                        ValueKind kind = ValueKind::f32) {
    const auto count = static_cast<Index>(terms.size());
    Buffer<Offset> row_offsets(2);
    row_offsets[0] = 0;
    row_offsets[1] = count;
    Buffer<Index> col_indices(count);
    Buffer<double> values(count);
    for (Index k = 0; k < count; ++k) {
      col_indices[k] = k;
      values[k] = terms[static_cast<std::size_t>(k)];
    }
    Fixture f(convert_values(CsrMatrix(1, count, std::move(row_offsets), std::move(col_indices),
                                       ValueArray::from(std::move(values))),
                             kind),
              1);
    for (Index k = 0; k < count; ++k) f.b.view().set(k, 0, 1);
    f.c.view().set(0, 0, found);
    return check_spmm(f.problem, std::as_const(f.b).view(), alpha, 0, nullptr,
                      std::as_const(f.c).view())
        .passed;
  };
  for (const double found : {-kInfinity, kInfinity, kNan}) {
    EXPECT_TRUE(check({-big, -big, big}, found, 0.125));
    EXPECT_TRUE(check({big, -big, -big}, found, -0.125));
  }
  EXPECT_FALSE(check({-1, -1, 1}, kNan, 0.125));
  const double largest = std::numeric_limits<float>::max();
  EXPECT_TRUE(check({largest}, kInfinity, 0.5));
  EXPECT_TRUE(check({largest / 2}, kInfinity, 2));
  EXPECT_TRUE(check({1e308}, -kInfinity, -10, ValueKind::f64));
  // With an infinity among the operands the sum of the others may make it a NaN, never finite.
  EXPECT_TRUE(check({kInfinity, -big, -big}, kNan, 1));
  EXPECT_TRUE(check({kInfinity, -big, -big}, kInfinity, 1));
  EXPECT_FALSE(check({kInfinity, -big, -big}, 1, 1));
  // The reference's finite terms overflow first and make it a NaN. Another order does not.
  for (const double alpha : {1.0, -0.5}) {
    const auto passes = [&](const std::vector<double>& terms, double found) {
      return check(terms, found, alpha, ValueKind::f64);
    };
    const double stored = -kInfinity * alpha;
    EXPECT_TRUE(passes({1e308, 1e308, -kInfinity}, stored));
    EXPECT_TRUE(passes({1e308, 1e308, -kInfinity}, kNan));
    EXPECT_FALSE(passes({1e308, 1e308, -kInfinity}, -stored));
    EXPECT_FALSE(passes({1e308, 1e308, -kInfinity}, 1));
    EXPECT_FALSE(passes({1e308, 1e308, -kInfinity, kNan}, stored));
    EXPECT_FALSE(passes({1, -kInfinity, kInfinity}, stored));
  }
}

TEST(CheckSpmm, RowsWhoseSumsOverflowAreComparedEntryByEntry) {
  CheckOptions options;
  options.always_samples = true;
  options.sampled_rows = 0;
  for (const double sign : {-1.0, 1.0}) {  // one of them cancels in the projection
    Fixture f(example_matrix(64, 64, 8, ValueKind::f64), 2);
    ASSERT_TRUE(f.check(options).passed);
    f.c.view().set(40, 0, 1.7e308);
    f.c.view().set(40, 1, sign * 1.7e308);
    EXPECT_FALSE(f.check(options).passed);
  }
}

TEST(CheckSpmm, SemiringsRoundOnce) {
  const auto check = [](double a, double b, ValueKind kind, double found) {
    OneTerm product(a, b, kind);
    product.f.problem.semiring = Semiring::min_plus;
    return product.check(found, false).passed;
  };
  EXPECT_TRUE(check(1, -1, ValueKind::f32, 0));
  EXPECT_TRUE(check(0.5, 0.5, ValueKind::f64, 1 + 0x1p-52));
  EXPECT_FALSE(check(0.5, 0.5, ValueKind::f64, 1 + 0x1p-51));
  const double largest = std::numeric_limits<float>::max();
  EXPECT_TRUE(check(largest, 0, ValueKind::f32, kInfinity));
  EXPECT_TRUE(check(-largest, 0, ValueKind::f32, -kInfinity));
}

TEST(CheckSpmm, TheEndOfSixteenBitsIsWithinTheBound) {
  OneTerm product(65504, 1, ValueKind::f16);
  product.f.problem.c = ValueKind::f16;
  product.f.c = DenseMatrix(1, 1, ValueKind::f16);
  EXPECT_TRUE(product.check(kInfinity, false).passed);
  EXPECT_TRUE(product.check(65504, false).passed);
  // Half a place of C is the projection's, too: 1 + 2^-11, all but rounded to 1.
  OneTerm halfway(1 + 0x1p-10, 1 - 0x1p-11, ValueKind::f16);
  halfway.f.problem.c = ValueKind::f16;
  halfway.f.c = DenseMatrix(1, 1, ValueKind::f16);
  EXPECT_TRUE(halfway.check(1, true).passed);
  EXPECT_TRUE(halfway.check(1, false).passed);
}

TEST(CheckSpmm, RefusesWhatTheSemiringOrBetaCannot) {
  Fixture f(example_matrix(20, 20, 4), 2, false, Semiring::min_plus);
  const auto check = [&](double alpha, double beta, const ConstDenseView* c0) {
    return check_spmm(f.problem, std::as_const(f.b).view(), alpha, beta, c0,
                      std::as_const(f.c).view());
  };
  EXPECT_THROW(check(2, 0, nullptr), UsageError);
  f.problem.semiring = Semiring::plus_times;
  const DenseMatrix other(19, 2, ValueKind::f32);
  const ConstDenseView before = other.view();
  EXPECT_THROW(check(1, 1, &before), UsageError);
}

}  // namespace
}  // namespace csrkit

#include "core/judge/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tests/property/matrices.h"

namespace csrkit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// ( 2 . -3 )
/// ( . .  . )
CsrMatrix two_by_three() {
  Buffer<Offset> row_offsets(3);
  row_offsets[0] = 0;
  row_offsets[1] = row_offsets[2] = 2;
  Buffer<Index> col_indices(2);
  col_indices[0] = 0;
  col_indices[1] = 2;
  Buffer<double> values(2);
  values[0] = 2;
  values[1] = -3;
  return CsrMatrix(2, 3, std::move(row_offsets), std::move(col_indices),
                   ValueArray::from(std::move(values)));
}

/// ( 1 10 )
/// ( 2 20 )
/// ( 4 40 )
DenseMatrix three_by_two() {
  DenseMatrix b(3, 2, ValueKind::f64);
  for (Index i = 0; i < 3; ++i) {
    b.view().set(i, 0, 1 << i);
    b.view().set(i, 1, 10 * (1 << i));
  }
  return b;
}

struct Row {
  ReferenceEntry entry[2];
};

Row row_of(Semiring semiring, Index row, double alpha = 1, double beta = 0,
           const ConstDenseView* c = nullptr) {
  Row result;
  const DenseMatrix b = three_by_two();
  reference_spmm_row(two_by_three(), b.view(), semiring, alpha, beta, c, row, result.entry);
  return result;
}

TEST(ReferenceSpmmRow, PlusTimes) {
  const Row row = row_of(Semiring::plus_times, 0);
  EXPECT_EQ(row.entry[0].value, 2 * 1 - 3 * 4);
  EXPECT_EQ(row.entry[0].magnitude, 14);
  EXPECT_EQ(row.entry[1].value, -100);
  EXPECT_EQ(row.entry[1].magnitude, 140);
  EXPECT_EQ(row_of(Semiring::plus_times, 1).entry[1].value, 0);
}

TEST(ReferenceSpmmRow, AlphaAndBeta) {
  DenseMatrix c(2, 2, ValueKind::f64);
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 2; ++j) c.view().set(i, j, 100);
  }
  const ConstDenseView view = std::as_const(c).view();
  const Row row = row_of(Semiring::plus_times, 0, -2, 0.5, &view);
  EXPECT_EQ(row.entry[0].value, 20 + 50);
  EXPECT_EQ(row.entry[0].magnitude, 28 + 50);
  const Row empty = row_of(Semiring::plus_times, 1, -2, 0.5, &view);
  EXPECT_EQ(empty.entry[0].value, 50);
}

TEST(ReferenceSpmmRow, OtherSemiringsAndTheirEmptySums) {
  EXPECT_EQ(row_of(Semiring::min_plus, 0).entry[0].value, 1);  // min(2 + 1, -3 + 4)
  EXPECT_EQ(row_of(Semiring::min_plus, 0).entry[1].value, 12);
  EXPECT_EQ(row_of(Semiring::min_plus, 1).entry[0].value, kInfinity);
  EXPECT_EQ(row_of(Semiring::max_times, 0).entry[1].value, 20);  // max(2 * 10, -3 * 40)
  EXPECT_EQ(row_of(Semiring::max_times, 1).entry[0].value, -kInfinity);
  EXPECT_EQ(row_of(Semiring::or_and, 0).entry[0].value, 1);
  EXPECT_EQ(row_of(Semiring::or_and, 1).entry[0].value, 0);
}

TEST(ReferenceSpmmRow, ANanStays) {
  DenseMatrix b = three_by_two();
  b.view().set(0, 0, std::numeric_limits<double>::quiet_NaN());
  for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus, Semiring::max_times}) {
    ReferenceEntry out[2];
    reference_spmm_row(two_by_three(), std::as_const(b).view(), semiring, 1, 0, nullptr, 0, out);
    EXPECT_TRUE(std::isnan(out[0].value)) << name_of(semiring);
    EXPECT_FALSE(std::isnan(out[1].value)) << name_of(semiring);
  }
}

/// The first row of A as entries of ( 3 -5 ; 13 17 ) times the transpose of ( 7 11 ; 9 9 ; -1 2 ).
struct SampledRow {
  SddmmProblem problem = default_sddmm_problem(two_by_three(), 2);
  DenseMatrix x{2, 2, ValueKind::f64}, y{3, 2, ValueKind::f64};

  SampledRow() {
    const double x_values[] = {3, -5, 13, 17}, y_values[] = {7, 11, 9, 9, -1, 2};
    for (Index i = 0; i < 4; ++i) x.view().set(i / 2, i % 2, x_values[i]);
    for (Index i = 0; i < 6; ++i) y.view().set(i / 2, i % 2, y_values[i]);
  }

  ReferenceSample entry(Offset at, double alpha = 1, double beta = 0, double before = 0) const {
    const double c[] = {before, before};
    const ConstValuesView view{c, ValueKind::f64, 2};
    return reference_sddmm_entry(problem, x.view(), y.view(), alpha, beta,
                                 beta != 0 ? &view : nullptr, 0, at);
  }
};

TEST(ReferenceSddmmEntry, SumsProductsOfTwoRows) {
  const SampledRow row;
  const ReferenceSample first = row.entry(0), second = row.entry(1);
  EXPECT_EQ(first.value, 21 - 55);
  EXPECT_EQ(first.magnitude, 76);
  EXPECT_EQ(first.finite_sum, 76);
  EXPECT_EQ(first.factor, 1);
  EXPECT_EQ(first.special_sum, 0);
  EXPECT_EQ(second.value, -13);
  EXPECT_EQ(second.magnitude, 13);
}

TEST(ReferenceSddmmEntry, FactorsAndWhatWasThere) {
  SampledRow row;
  row.problem.multiplies_by_a = true;
  EXPECT_EQ(row.entry(0).value, -68);
  EXPECT_EQ(row.entry(0).magnitude, 152);
  EXPECT_EQ(row.entry(0).finite_sum, 76);
  EXPECT_EQ(row.entry(0).factor, 2);
  EXPECT_EQ(row.entry(1).value, 39);
  EXPECT_EQ(row.entry(1).magnitude, 39);
  EXPECT_EQ(row.entry(1).factor, -3);
  const ReferenceSample all = row.entry(0, -2, 0.5, -100);
  EXPECT_EQ(all.value, 136 - 50);
  EXPECT_EQ(all.magnitude, 304 + 50);
  EXPECT_EQ(row.entry(0, 1, 1, 5).value, -63);
  EXPECT_EQ(all.special_sum, 0);
}

TEST(ReferenceSddmmEntry, WhatIsNotFiniteIsLeftOutOfTheSum) {
  for (const double special : {kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    SampledRow left, right, factor;
    left.x.view().set(0, 1, special);
    EXPECT_EQ(left.entry(0).finite_sum, 21);
    EXPECT_FALSE(std::isfinite(left.entry(0).special_sum));
    right.y.view().set(0, 0, special);
    EXPECT_EQ(right.entry(0).finite_sum, 55);
    EXPECT_FALSE(std::isfinite(right.entry(0).special_sum));
    EXPECT_EQ(right.entry(1).special_sum, 0);
    EXPECT_FALSE(std::isfinite(factor.entry(0, 1, 1, special).special_sum));
    EXPECT_EQ(factor.entry(0, 1, 0, special).special_sum, 0);
    factor.problem.a = testing::matrix_of(2, 3, {{0, 0, special}, {0, 2, 1}});
    EXPECT_EQ(factor.entry(0).special_sum, 0) << "values that nobody multiplies by";
    factor.problem.multiplies_by_a = true;
    EXPECT_FALSE(std::isfinite(factor.entry(0).special_sum));
    EXPECT_EQ(factor.entry(1).special_sum, 0);
  }
}

/// A row times a column, with both references: they must agree.
ReferenceEntry product_of(Semiring semiring, const std::vector<double>& row,
                          const std::vector<double>& column) {
  const auto count = static_cast<Index>(row.size());
  std::vector<testing::Entry> a_entries, b_entries;
  DenseMatrix dense(count, 1, ValueKind::f64);
  for (Index k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    a_entries.push_back({0, k, row[at]});
    b_entries.push_back({k, 0, column[at]});
    dense.view().set(k, 0, column[at]);
  }
  const CsrMatrix a = testing::matrix_of(1, count, a_entries);
  const CsrMatrix b = testing::matrix_of(count, 1, b_entries);
  ReferenceEntry found;
  reference_spmm_row(a, std::as_const(dense).view(), semiring, 1, 0, nullptr, 0, &found);
  SpgemmProblem problem = default_spgemm_problem(a, b);
  problem.semiring = semiring;
  std::vector<ReferenceProductEntry> sparse;
  ReferenceSpgemm(problem, b).row(0, sparse);
  EXPECT_EQ(sparse.size(), 1u);
  EXPECT_EQ(std::isnan(sparse[0].value), std::isnan(found.value));
  if (!std::isnan(found.value)) {
    EXPECT_EQ(sparse[0].value, found.value);
  }
  EXPECT_EQ(sparse[0].magnitude, found.magnitude);
  return found;
}

TEST(References, SemiringsAgreeOnOrdinaryNumbers) {
  const std::vector<double> row = {1, -5, 2}, column = {7, 3, -4};
  EXPECT_EQ(product_of(Semiring::min_plus, row, column).value, -2);
  EXPECT_EQ(product_of(Semiring::min_plus, row, column).magnitude, 8);
  EXPECT_EQ(product_of(Semiring::max_times, row, column).value, 7);
  EXPECT_EQ(product_of(Semiring::max_times, row, column).magnitude, 15);
  EXPECT_EQ(product_of(Semiring::min_plus, {-5}, {3}).magnitude, 8);
  EXPECT_EQ(product_of(Semiring::max_times, {-2}, {3}).magnitude, 6);
  EXPECT_EQ(product_of(Semiring::or_and, row, column).value, 1);
  EXPECT_EQ(product_of(Semiring::or_and, {0, 3}, {5, 0}).value, 0);
  EXPECT_EQ(product_of(Semiring::or_and, {3, 0}, {5, 0}).value, 1);
  EXPECT_EQ(product_of(Semiring::or_and, {0}, {5}).value, 0);
}

TEST(References, SemiringsKeepWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [row, column] :
       {std::pair<std::vector<double>, std::vector<double>>{{kInfinity}, {-kInfinity}},
        {{kInfinity, 1}, {-kInfinity, 1}},
        {{1, kInfinity}, {1, -kInfinity}},
        {{nan, 1}, {1, 1}},
        {{1, nan}, {1, 1}}}) {
    EXPECT_TRUE(std::isnan(product_of(Semiring::min_plus, row, column).value));
  }
  for (const auto& [row, column] :
       {std::pair<std::vector<double>, std::vector<double>>{{kInfinity}, {0}},
        {{0, 1}, {kInfinity, 1}},
        {{1, 0}, {1, kInfinity}},
        {{nan, 1}, {1, 1}},
        {{1, nan}, {1, 1}}}) {
    EXPECT_TRUE(std::isnan(product_of(Semiring::max_times, row, column).value));
  }
}

TEST(References, SumsOfAbsoluteValuesKnowSignsAndOverflow) {
  const auto entry_of = [](const std::vector<double>& row, double column, double alpha) {
    const auto count = static_cast<Index>(row.size());
    std::vector<testing::Entry> a, b;
    for (Index k = 0; k < count; ++k) {
      a.push_back({0, k, row[static_cast<std::size_t>(k)]});
      b.push_back({k, 0, column});
    }
    SpgemmProblem problem =
        default_spgemm_problem(testing::matrix_of(1, count, a), testing::matrix_of(count, 1, b));
    problem.alpha = alpha;
    std::vector<ReferenceProductEntry> found;
    ReferenceSpgemm(problem, problem.b).row(0, found);
    return found.at(0);
  };
  EXPECT_EQ(entry_of({3, -4}, 2, -5).magnitude, 70);
  EXPECT_EQ(entry_of({3, -4}, 2, -5).finite_sum, 14);
  EXPECT_EQ(entry_of({1e200}, 1e-200, 1).finite_sum, 1e200 * 1e-200);
  EXPECT_EQ(entry_of({1e200}, 1e200, 1).finite_sum, kInfinity);
  EXPECT_EQ(entry_of({3, kInfinity}, 2, 1).finite_sum, 6);
  EXPECT_EQ(entry_of({1e200}, 1e200, 1).special_sum, 0);
  EXPECT_FALSE(std::isfinite(entry_of({3, kInfinity}, 2, 1).special_sum));
}

}  // namespace
}  // namespace csrkit

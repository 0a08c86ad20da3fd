// Products that adaptive_rows makes in one pass.

#include <string>
#include <vector>

#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/spgemm/adaptive_rows/adaptive_rows_checks.h"

namespace csrkit::testing {

namespace {

std::unique_ptr<SpgemmPlan> make_in_passes(const SpgemmProblem& problem, bool prefers_one_pass) {
  gpu::BinRules rules;
  rules.prefers_one_pass = prefers_one_pass;
  return plan_by(rules, problem);
}

/// One pass and two give the same bits; says whether one pass was enough.
bool check_one_pass(const ProductOperands& operands, const ProductCase& item) {
  const SpgemmProblem problem = problem_of(operands, item);
  const auto one = make_in_passes(problem, true), two = make_in_passes(problem, false);
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(identical(product_of(*one, problem), product_of(*two, problem))) << describe(item);
  }
  EXPECT_GE(one->time_multiply(), 0);
  EXPECT_LE(one->phases().peak_bytes, one->forecast().peak_bytes);
  return one->choice().find("one pass") != std::string::npos;
}

/// `rows` rows of A, each of which meets one row of B with `length` entries; B's others are empty.
ProductOperands of_one_row(Index rows, Index length) {
  std::vector<Entry> a, b;
  for (Index i = 0; i < rows; ++i) a.push_back({i, 0, random_value(21, i, 0)});
  for (Index j = 0; j < length; ++j) b.push_back({0, 3 * j, random_value(22, 0, j)});
  return {matrix_of(rows, 100, a), matrix_of(100, 3 * length, b)};
}

using SpgemmSmallProduct = GpuTest;
using SanitizerSpgemmSmallProduct = GpuTest;

}  // namespace

TEST_F(SpgemmSmallProduct, HasTheSameBitsAsInTwoPasses) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      on_test_threads(spgemm_battery().size(), [&](std::size_t i) {
        SCOPED_TRACE(spgemm_battery()[i].name);
        check_one_pass(spgemm_battery()[i].make(), item);
      });
    }
  }
}

// As many products in a row as there may be, and one more; as much room as there is, and one row
// more; as many rows, and one more.
TEST_F(SpgemmSmallProduct, EndsWhereRowsOrRoomEnd) {
  EXPECT_TRUE(check_one_pass(of_one_row(1, 16), {}));
  EXPECT_FALSE(check_one_pass(of_one_row(100, 17), {}));
  EXPECT_TRUE(check_one_pass(of_one_row(100, 16), {}));
  EXPECT_TRUE(check_one_pass(of_one_row(gpu::kMostRowsOfSmall, 2), {}));
  EXPECT_FALSE(check_one_pass(of_one_row(gpu::kMostRowsOfSmall + 1, 2), {}));
  for (const Index length : {31, 32, 33, 63, 64, 65, 128, 129, 255, 256, 257}) {
    SCOPED_TRACE(length);
    // Every row has `length` products: one of its sources has all, the other 40 none.
    std::vector<Entry> a, b;
    for (Index i = 0; i < 70; ++i) {
      for (Index k = 0; k < 41; ++k) a.push_back({i, 2 * k, random_value(23, i, k)});
    }
    for (Index j = 0; j < length; ++j) b.push_back({40, j, random_value(24, 40, j)});
    EXPECT_EQ(check_one_pass({matrix_of(70, 100, a), matrix_of(100, 300, b)}, {}), length <= 256);
  }
}

TEST_F(SanitizerSpgemmSmallProduct, RowsOfEveryShape) {
  check_one_pass(of_one_row(100, 17), {});
  on_test_threads(spgemm_battery().size(), [](std::size_t i) {
    for (const char* name : {"tridiagonal", "around_vector_and_table_sizes", "all_dense",
                             "only_empty_rows_are_met", "scattered_columns"}) {
      if (std::string(name) != spgemm_battery()[i].name) continue;
      SCOPED_TRACE(name);
      for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
        ProductCase item;
        item.kinds = {kind, kind, kind};
        check_one_pass(spgemm_battery()[i].make(), item);
      }
    }
  });
}

}  // namespace csrkit::testing

// Masked products: what the mask allows costs, not what B's long rows have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "cpu/spgemm/analysis/row_work.h"
#include "cpu/spgemm/rows/row_products.h"
#include "tests/property/spgemm/battery.h"
#include "tests/unit/cpu/spgemm/product_by.h"

namespace csrkit {
namespace {

using testing::Entry;
using testing::matrix_of;
using testing::product_by;

constexpr Index kRows = 40, kInner = 24, kCols = 9000;

/// Rows of B from none to all columns, so that some are searched and others looked up.
CsrMatrix uneven_b() {
  std::vector<Entry> entries;
  for (Index k = 0; k < kInner; ++k) {
    const Index step = k < 3 ? 1 : k * k;
    for (Index j = k == 7 ? kCols : k % 5; j < kCols; j += step) {
      entries.push_back({k, j, random_value(1, k, j)});
    }
  }
  return matrix_of(kInner, kCols, entries);
}

CsrMatrix dense_a() {
  std::vector<Entry> entries;
  for (Index i = 0; i < kRows; ++i) {
    for (Index k = i % 3; k < kInner; k += 1 + i % 4)
      entries.push_back({i, k, random_value(2, i, k)});
  }
  return matrix_of(kRows, kInner, entries);
}

/// Row i allows i columns, the first and the last among them; or every row allows all.
CsrMatrix mask(bool is_full) {
  std::vector<Entry> entries;
  for (Index i = 0; i < kRows; ++i) {
    const Index count = is_full ? kCols : i;
    for (Index n = 0; n < count; ++n) {
      const Index j =
          count == 1 ? kCols - 1 : static_cast<Index>(Offset{kCols - 1} * n / (count - 1));
      entries.push_back({i, j, 0.0});
    }
  }
  return matrix_of(kRows, kCols, entries, ValueKind::none);
}

/// The entries of C at the mask's positions.
std::string entries_at(const CsrMatrix& c, const CsrMatrix& mask) {
  std::string text;
  c.visit([&](auto view) {
    for (Index i = 0; i < view.rows; ++i) {
      const Index* const first = mask.col_indices() + mask.row_offsets()[i];
      const Index* const last = mask.col_indices() + mask.row_offsets()[i + 1];
      for (Offset at = view.row_offsets[i]; at < view.row_offsets[i + 1]; ++at) {
        if (!std::binary_search(first, last, view.col_indices[at])) continue;
        const auto value = view.template value_as<double>(at);
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        text += std::to_string(i) + "," + std::to_string(view.col_indices[at]) + "=" +
                std::to_string(bits) + " ";
      }
    }
  });
  return text;
}

TEST(MaskedRows, HaveTheSameBitsHoweverTheMaskMeetsB) {
  const CsrMatrix few = mask(false), all = mask(true);
  // The test is about both ways.
  ASSERT_LT(cpu::search_cost(10, kCols), kCols);
  ASSERT_GT(cpu::search_cost(kRows, kCols / 16), kCols / 16);
  ASSERT_GT(cpu::search_cost(kCols, kCols), kCols);
  for (const ValueKind kind : {ValueKind::f64, ValueKind::f32, ValueKind::f16, ValueKind::none}) {
    for (const double drop_below : {0.0, 0.75}) {
      for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
        if (kind == ValueKind::f16 && semiring != Semiring::plus_times) continue;
        SpgemmProblem problem = default_spgemm_problem(convert_values(dense_a(), kind),
                                                       convert_values(uneven_b(), kind));
        problem.semiring = semiring;
        problem.drop_below = drop_below;
        problem.mask = all;
        std::string choice;
        const std::string expected = entries_at(product_by("auto", 1, problem, &choice), few);
        ASSERT_NE(expected, "");
        problem.mask = few;
        for (const char* kernel : {"auto", "adaptive_rows"}) {
          const CsrMatrix c = product_by(kernel, 3, problem, &choice);
          EXPECT_EQ(entries_at(c, few), expected) << kernel << " " << name_of(kind);
          EXPECT_EQ(entries_at(c, all), expected) << "an entry that the mask does not allow";
        }
      }
    }
  }
}

/// One row and one column are full, and the diagonal is: of 10^12 products the mask keeps one in
/// 300,000.
TEST(MaskedRows, OfAnArrowCostWhatTheMaskAllows) {
  const Index order = 1000000;
  std::vector<Entry> entries;
  entries.reserve(3 * static_cast<std::size_t>(order));
  for (Index j = 0; j < order; ++j) entries.push_back({0, j, 1.0});
  for (Index i = 1; i < order; ++i) {
    entries.push_back({i, 0, 1.0});
    entries.push_back({i, i, 1.0});
  }
  const CsrMatrix arrow = matrix_of(order, order, std::move(entries), ValueKind::f32);
  SpgemmProblem problem = default_spgemm_problem(arrow, arrow);
  problem.mask = arrow;
  Buffer<Offset> sums(order + 1);
  const cpu::RowWork work = cpu::find_row_work(problem, arrow, 2, sums.data());
  EXPECT_GT(work.products, Offset{order} * order);
  ASSERT_LT(work.pieces.cost_of_all(), 100 * arrow.nnz());

  std::string choice;
  const CsrMatrix c = product_by("auto", 2, problem, &choice);
  ASSERT_EQ(c.nnz(), arrow.nnz());
  const auto view = c.view<float>();
  EXPECT_EQ(view.values[0], static_cast<float>(order));
  for (Offset at = 1; at < c.nnz(); ++at) ASSERT_EQ(view.values[at], 2.0f) << at;
}

}  // namespace
}  // namespace csrkit

#include <map>

#include "tests/unit/api/handles_testing.h"

namespace csrkit::api {
namespace {

using Entries = std::map<std::pair<int, int>, double>;

Entries entries_of(const Matrix& matrix) {
  const csrkit_matrix_info info = info_of(matrix);
  Entries entries;
  for (int row = 0; row < info.rows; ++row) {
    for (std::int64_t e = info.row_offsets[row]; e < info.row_offsets[row + 1]; ++e) {
      entries[{row, info.col_indices[e]}] = static_cast<const double*>(info.values)[e];
    }
  }
  return entries;
}

/// A op(A), by hand.
Entries expected(const Entries& a, bool transpose) {
  Entries c;
  for (const auto& [left, x] : a) {
    for (const auto& [right, y] : a) {
      const int inner = transpose ? right.second : right.first;
      const int col = transpose ? right.first : right.second;
      if (left.second == inner) c[{left.first, col}] += x * y;
    }
  }
  return c;
}

TEST(Spgemm, ProductsAreRight) {
  SmallArrays small;
  const Matrix a = wrapped(small.view());
  for (const bool transpose : {false, true}) {
    csrkit_spgemm_options options{};
    options.size = sizeof options;
    options.transpose = transpose ? 1 : 0;
    csrkit_matrix* c = nullptr;
    EXPECT_OK(csrkit_spgemm(a.get(), a.get(), &options, &c));
    const Matrix product(c);
    EXPECT_EQ(entries_of(product), expected(entries_of(a), transpose));
    options.mask = a.get();
    EXPECT_OK(csrkit_spgemm(a.get(), a.get(), &options, &c));
    const Matrix masked(c);
    for (const auto& [place, value] : entries_of(masked)) {
      EXPECT_EQ(entries_of(a).count(place), 1u);
      EXPECT_EQ(value, entries_of(product)[place]);
    }
  }
  csrkit_matrix* c = nullptr;
  EXPECT_OK(csrkit_spgemm(a.get(), a.get(), nullptr, &c));
  csrkit_matrix_free(c);
  EXPECT_EQ(csrkit_spgemm(a.get(), nullptr, nullptr, &c), CSRKIT_USAGE);
}

TEST(Spgemm, OrdersOfTheOperandsAreThoseOfTheProduct) {
  SmallArrays small;
  const Matrix a = wrapped(small.view());
  csrkit_reorder_options rows{};
  rows.size = sizeof rows;
  rows.sides = "rows";
  csrkit_matrix* handle = nullptr;
  EXPECT_OK(csrkit_reorder(a.get(), "degree", &rows, &handle));
  const Matrix moved(handle);
  csrkit_spgemm_options options{};
  options.size = sizeof options;
  options.transpose = 1;
  EXPECT_OK(csrkit_spgemm(a.get(), moved.get(), &options, &handle));
  const Matrix product(handle);
  EXPECT_EQ(info_of(product).row_order, nullptr);
  ASSERT_NE(info_of(product).col_order, nullptr);
  EXPECT_OK(csrkit_reorder(product.get(), "undo", nullptr, &handle));
  EXPECT_EQ(entries_of(Matrix(handle)), expected(entries_of(a), true));
}

}  // namespace
}  // namespace csrkit::api

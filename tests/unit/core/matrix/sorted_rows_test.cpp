#include "core/matrix/sorted_rows.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/base/error.h"

namespace csrkit {
namespace {

/// Three rows of a 3 x 9 matrix: four entries out of order, none, two in order.
CsrMatrix out_of_order(ValueKind kind) {
  Buffer<Offset> row_offsets(4);
  Buffer<Index> col_indices(6);
  Buffer<double> values(6);
  const Offset offsets[] = {0, 4, 4, 6};
  const Index cols[] = {7, 0, 8, 3, 2, 5};
  std::memcpy(row_offsets.data(), offsets, sizeof offsets);
  std::memcpy(col_indices.data(), cols, sizeof cols);
  for (Offset i = 0; i < 6; ++i) values[i] = static_cast<double>(i) + 0.5;
  return convert_values(CsrMatrix(3, 9, std::move(row_offsets), std::move(col_indices),
                                  ValueArray::from(std::move(values))),
                        kind);
}

TEST(WithSortedRows, OrdersColumnsAndTakesTheirValuesAlong) {
  for (const int threads : {1, 3}) {
    const CsrMatrix sorted = with_sorted_rows(out_of_order(ValueKind::f32), threads);
    validate(sorted, "sorted");
    const auto view = sorted.view<float>();
    const Index cols[] = {0, 3, 7, 8, 2, 5};
    const float values[] = {1.5f, 3.5f, 0.5f, 2.5f, 4.5f, 5.5f};
    for (Offset i = 0; i < 6; ++i) {
      EXPECT_EQ(view.col_indices[i], cols[i]);
      EXPECT_EQ(view.values[i], values[i]);
    }
    EXPECT_TRUE(identical(sorted, with_sorted_rows(sorted, threads)));
  }
}

TEST(WithSortedRows, TakesEveryKindAndNoRows) {
  for (const ValueKind kind : {ValueKind::none, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
    const CsrMatrix sorted = with_sorted_rows(out_of_order(kind));
    validate(sorted, "sorted");
    EXPECT_EQ(sorted.value_kind(), kind);
    EXPECT_EQ(sorted.nnz(), 6);
  }
  EXPECT_EQ(with_sorted_rows(CsrMatrix()).rows(), 0);
}

TEST(WithSortedRows, LeavesToValidateWhatOrderDoesNotMend) {
  CsrMatrix twice = out_of_order(ValueKind::none);
  const_cast<Index*>(twice.col_indices())[0] = 3;
  EXPECT_THROW(validate(with_sorted_rows(twice), "C"), InputError);
}

}  // namespace
}  // namespace csrkit

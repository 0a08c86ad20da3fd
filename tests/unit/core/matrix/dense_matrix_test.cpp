#include "core/matrix/dense_matrix.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

namespace csrkit {
namespace {

constexpr ValueKind kKinds[] = {ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16};

TEST(DenseMatrix, ElementsLieWhereTheLeadingDimensionSays) {
  for (const ValueKind kind : kKinds) {
    DenseMatrix dense(3, 2, kind, 7);
    fill_nan(dense.view());
    dense.view().set(2, 1, 1.5);
    const ConstDenseView view = dense.view();
    EXPECT_EQ(view.at(2, 1), 1.5);
    EXPECT_TRUE(std::isnan(view.at(2, 0)));
    // The same memory as one row: (2, 1) is its last element, the padding in between is NaN.
    const ConstDenseView flat{view.data, kind, 1, 16, 16};
    EXPECT_EQ(flat.at(0, 15), 1.5);
    for (Index i = 0; i < 15; ++i) EXPECT_TRUE(std::isnan(flat.at(0, i)));
  }
}

TEST(DenseMatrix, RandomNumbersDependOnThePlaceAlone) {
  const int threads = omp_get_max_threads();
  for (const ValueKind kind : kKinds) {
    DenseMatrix narrow(40, 5, kind), wide(50, 9, kind, 12);
    omp_set_num_threads(1);
    fill_random(narrow.view(), 3);
    omp_set_num_threads(4);
    fill_random(wide.view(), 3);
    const ConstDenseView a = narrow.view(), b = wide.view();
    for (Index i = 0; i < 40; ++i) {
      for (Index j = 0; j < 5; ++j) {
        EXPECT_EQ(a.at(i, j), b.at(i, j));
        EXPECT_TRUE(a.at(i, j) >= -1 && a.at(i, j) <= 1);
      }
    }
    fill_random(wide.view(), 4);
    EXPECT_NE(a.at(0, 0), b.at(0, 0));
  }
  omp_set_num_threads(threads);
}

TEST(DenseMatrix, RandomBlocksHoldWhatTheWholeMatrixHoldsThere) {
  for (const ValueKind kind : kKinds) {
    DenseMatrix whole(300, 70, kind, 80);
    fill_random(whole.view(), 9);
    for (const Index rows : {1, 37, 300}) {
      for (const Index cols : {1, 33, 70}) {
        const Index first_row = 300 - rows, first_col = (70 - cols) / 2;
        DenseMatrix block(rows, cols, kind, cols + 3);
        fill_nan(block.view());
        fill_random(block.view(), 9, first_row, first_col);
        for (Index i = 0; i < rows; ++i) {
          for (Index j = 0; j < cols; ++j) {
            ASSERT_EQ(std::as_const(block).view().at(i, j),
                      std::as_const(whole).view().at(first_row + i, first_col + j));
          }
        }
      }
    }
  }
}

TEST(DenseMatrix, RefusesWhatCannotExist) {
  EXPECT_THROW(DenseMatrix(2, 2, ValueKind::none), UsageError);
  EXPECT_THROW(DenseMatrix(2, 3, ValueKind::f32, 2), UsageError);
  EXPECT_THROW(DenseMatrix(kMaxIndex, 1, ValueKind::f64, Offset{1} << 62), MemoryError);
  EXPECT_EQ(DenseMatrix(0, 5, ValueKind::f32).size_bytes(), 0u);
  EXPECT_EQ(DenseMatrix(5, 0, ValueKind::f32).size_bytes(), 0u);
  EXPECT_EQ(DenseMatrix(3, 2, ValueKind::f16, 4).size_bytes(), 24u);
}

}  // namespace
}  // namespace csrkit

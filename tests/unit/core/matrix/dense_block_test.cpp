#include "core/matrix/dense_block.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(DenseBlock, BlocksHoldWhatTheWholeMatrixHoldsThere) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
    DenseMatrix whole(300, 70, kind, 80);
    fill_random(whole.view(), 9);
    for (const Index rows : {1, 37, 300}) {
      for (const Index cols : {1, 33, 70}) {
        const Index first_row = 300 - rows, first_col = (70 - cols) / 2;
        DenseMatrix block(rows, cols, kind, cols + 3);
        fill_nan(block.view());
        fill_random_block(block.view(), 9, first_row, first_col);
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

}  // namespace
}  // namespace csrkit

#include "core/matrix/dense_block.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

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

TEST(DenseBlock, PackedRowsComeBackToTheirPlacesAndTouchNothingElse) {
  for (const std::size_t row_bytes : {1u, 4u, 12u, 63u, 64u, 65u, 128u, 200u, 1000u}) {
    for (const std::size_t padding : {0u, 4u, 56u, 513u}) {
      for (const std::size_t shift : {0u, 4u, 60u}) {
        for (const Offset rows : {0, 1, 3, 40}) {
          const std::size_t pitch = row_bytes + padding;
          const std::size_t all = shift + pitch * static_cast<std::size_t>(rows) + 64;
          std::vector<std::byte> from(all), to(all, std::byte{0xee}), expected = to;
          for (std::size_t i = 0; i < all; ++i) from[i] = static_cast<std::byte>(i * 37 + i / 256);
          const std::size_t packed_bytes = row_bytes * static_cast<std::size_t>(rows);
          std::vector<std::byte> packed(packed_bytes + 8, std::byte{0xdd});
          pack_rows(packed.data(), {from.data() + shift, pitch}, row_bytes, rows);
          for (std::size_t i = 0; i < 8; ++i) ASSERT_EQ(packed[packed_bytes + i], std::byte{0xdd});
          for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
            const std::byte* const original = from.data() + shift + row * pitch;
            ASSERT_EQ(std::memcmp(packed.data() + row * row_bytes, original, row_bytes), 0);
            std::memcpy(expected.data() + shift + row * pitch, original, row_bytes);
          }
          unpack_rows({to.data() + shift, pitch}, packed.data(), row_bytes, rows);
          ASSERT_EQ(to, expected) << row_bytes << " bytes a row, " << pitch << " apart";
        }
      }
    }
  }
}

}  // namespace
}  // namespace csrkit

#include "core/matrix/dense_block.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace csrkit {
namespace {

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

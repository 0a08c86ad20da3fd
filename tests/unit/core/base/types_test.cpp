#include "core/base/types.h"

#include <gtest/gtest.h>

#include "core/base/buffer.h"

namespace csrkit {
namespace {

TEST(CheckedCast, KeepsWhatFits) {
  EXPECT_EQ(checked_cast<Index>(kMaxIndex, "rows"), kMaxIndex);
  EXPECT_EQ(checked_cast<Index>(-(std::int64_t{1} << 31), "rows"),
            std::numeric_limits<Index>::min());
  EXPECT_EQ(checked_cast<std::uint8_t>(255, "byte"), 255);
  EXPECT_EQ(checked_cast<std::uint64_t>(std::int64_t{7}, "bytes"), 7u);
}

TEST(CheckedCast, RefusesWhatDoesNot) {
  EXPECT_THROW(checked_cast<Index>(kMaxIndex + 1, "rows"), InputError);
  EXPECT_THROW(checked_cast<Index>(~std::uint64_t{0}, "rows"), InputError);
  EXPECT_THROW(checked_cast<std::uint64_t>(-1, "bytes"), InputError);
  EXPECT_THROW(checked_cast<std::int64_t>(~std::uint64_t{0}, "bytes"), InputError);
  EXPECT_THROW((checked_cast<std::uint8_t, UsageError>(256, "byte")), UsageError);
  try {
    checked_cast<Index>(std::int64_t{1} << 40, "the number of rows");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("the number of rows is 1099511627776"),
              std::string::npos);
  }
}

TEST(Buffer, IsAlignedAndMoves) {
  Buffer<char> buffer(3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % Buffer<char>::kAlignment, 0u);
  buffer[0] = 'a';
  const char* place = buffer.data();
  Buffer<char> moved(std::move(buffer));
  EXPECT_EQ(moved.data(), place);
  EXPECT_EQ(moved.size(), 3);
  EXPECT_EQ(buffer.size(), 0);  // NOLINT: the moved-from state is part of the contract
  EXPECT_EQ(buffer.data(), nullptr);
  Buffer<char> assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.data(), place);
  EXPECT_EQ(Buffer<char>::copy_of(place, 1)[0], 'a');
  EXPECT_EQ(Buffer<char>::copy_of(nullptr, 0).size(), 0);
}

TEST(Buffer, RefusesSizesThatCannotExist) {
  EXPECT_THROW(Buffer<double>(-1), MemoryError);
  EXPECT_THROW(Buffer<double>{std::numeric_limits<Offset>::max()}, MemoryError);
  EXPECT_THROW(Buffer<double>(Offset{1} << 60), MemoryError);
}

}  // namespace
}  // namespace csrkit

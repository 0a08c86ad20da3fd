#include "tools/info/spy_picture.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/core/pattern_samples.h"
#include "tests/unit/preprocess/export/scratch_folder.h"

namespace csrkit {
namespace {

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return number;
}

TEST(SpyPicture, IsAPngOfTheRightSize) {
  const ScratchFolder folder;
  const std::string path = folder / "spy.png";
  const SpyPicture picture = write_spy_picture(path, random_pattern(100, 400, 3, 1), 200);
  EXPECT_EQ(picture.width, 200);
  EXPECT_EQ(picture.height, 50);
  EXPECT_GT(picture.palest, 0);
  EXPECT_LE(picture.palest, 1);
  const std::string png = content_of(path);
  ASSERT_GT(png.size(), 33u);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(png.substr(12, 4), "IHDR");
  EXPECT_EQ(big_endian(png, 16), 200u);
  EXPECT_EQ(big_endian(png, 20), 50u);
  // The checksum of the last chunk, which is empty, is the same in every PNG.
  EXPECT_EQ(png.substr(png.size() - 8), "IEND\xae\x42\x60\x82");
}

TEST(SpyPicture, HasAtMostOnePixelPerRowAndColumn) {
  const ScratchFolder folder;
  const SpyPicture picture = write_spy_picture(folder / "spy.png", pattern_of(3, {{0}, {2}}), 500);
  EXPECT_EQ(picture.width, 3);
  EXPECT_EQ(picture.height, 2);
}

}  // namespace
}  // namespace csrkit

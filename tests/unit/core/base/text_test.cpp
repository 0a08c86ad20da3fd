#include "core/base/text.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(Text, BeginsAndEndsWithWhatItIs) {
  EXPECT_TRUE(starts_with("a.mtx", "a."));
  EXPECT_FALSE(starts_with("a.mtx", ".mtx"));
  EXPECT_TRUE(ends_with("a.mtx", ".mtx"));
  EXPECT_FALSE(ends_with("a.mtx.gz", ".mtx"));
}

TEST(Text, IsItsOwnBeginningAndEnd) {
  EXPECT_TRUE(starts_with(".mtx", ".mtx"));
  EXPECT_TRUE(ends_with(".mtx", ".mtx"));
  EXPECT_TRUE(ends_with("", ""));
  EXPECT_FALSE(starts_with("mtx", ".mtx"));
  EXPECT_FALSE(ends_with("mtx", ".mtx"));
}

}  // namespace
}  // namespace csrkit

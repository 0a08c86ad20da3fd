#include "core/base/text.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <string>

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

TEST(Text, ListsHaveSeparatorsBetweenTheirItems) {
  std::string list;
  append_item(list, "rows");
  EXPECT_EQ(list, "rows");
  append_item(list, "cols");
  append_item(list, "nnz", " and ");
  EXPECT_EQ(list, "rows, cols and nnz");
}

TEST(Text, SmallLettersTakeThePlaceOfLargeOnes) {
  EXPECT_EQ(lower_case("Ab-Z_9 @[`{"), "ab-z_9 @[`{");
  EXPECT_EQ(lower_case("\xc3\x89t\xc3\xa9"), "\xc3\x89t\xc3\xa9");  // none of A to Z
  EXPECT_EQ(lower_case(""), "");
}

TEST(Text, NumbersAreRoundedAsPrintfDoes) {
  for (const double value :
       {0.0, -1.0, 1.0 / 3, 1e-5, 123456.5, 1e6, 5e-324, -1.7976931348623157e308}) {
    for (const int digits : {3, 6, 17}) {
      char expected[32];
      std::snprintf(expected, sizeof expected, "%.*g", digits, value);
      EXPECT_EQ(rounded(value, digits), expected);
    }
  }
  EXPECT_EQ(rounded(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(rounded(-std::numeric_limits<double>::infinity()), "-inf");
}

}  // namespace
}  // namespace csrkit

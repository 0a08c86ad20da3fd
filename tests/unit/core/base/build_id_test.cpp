#include "core/base/build_id.h"

#include <gtest/gtest.h>

#include <string>

TEST(BuildId, Is32HexadecimalDigits) {
  const std::string id = csrkit::build_id();
  EXPECT_EQ(id.size(), 32u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
}

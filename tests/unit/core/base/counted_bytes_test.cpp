#include "core/base/counted_bytes.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(CountedBytes, OneIsNoPlural) {
  EXPECT_EQ(counted_bytes(0), "0 bytes");
  EXPECT_EQ(counted_bytes(1), "1 byte");
  EXPECT_EQ(counted_bytes(18446744073709551615u), "18446744073709551615 bytes");
}

}  // namespace
}  // namespace csrkit

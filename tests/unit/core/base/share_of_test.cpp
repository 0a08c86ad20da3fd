#include "core/base/share_of.h"

#include <gtest/gtest.h>

#include <limits>

namespace csrkit {
namespace {

TEST(ShareOf, IsThatOfWholeNumbersWithoutALimit) {
  const Offset most = std::numeric_limits<Offset>::max();
  EXPECT_EQ(share_of(10, 1, 3), 3);
  EXPECT_EQ(share_of(10, 2, 3), 6);
  EXPECT_EQ(share_of(0, 2, 3), 0);
  for (const Offset parts : {Offset{1}, Offset{7}, Offset{kMaxIndex}}) {
    EXPECT_EQ(share_of(most, 0, parts), 0);
    EXPECT_EQ(share_of(most, parts, parts), most);
  }
  EXPECT_EQ(share_of(most, 3, 7), 3952873730080618203);  // 3 (2^63 - 1) / 7
}

}  // namespace
}  // namespace csrkit

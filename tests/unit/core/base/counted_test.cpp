#include "core/base/counted.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace csrkit {
namespace {

TEST(Counted, ThingsAreManyUnlessOne) {
  EXPECT_EQ(counted(0, "byte"), "0 bytes");
  EXPECT_EQ(counted(1, "byte"), "1 byte");
  EXPECT_EQ(counted(18446744073709551615u, "byte"), "18446744073709551615 bytes");
  EXPECT_EQ(counted(std::int64_t{-1}, "step"), "-1 steps");
}

TEST(Counted, TheLastLettersFollow) {
  EXPECT_EQ(counted(1, "entry"), "1 entry");
  EXPECT_EQ(counted(2, "entry"), "2 entries");
  EXPECT_EQ(counted(3, "day"), "3 days");
  EXPECT_EQ(counted(1, "row part"), "1 row part");
  EXPECT_EQ(counted(4, "row part"), "4 row parts");
}

}  // namespace
}  // namespace csrkit

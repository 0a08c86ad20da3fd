#include "core/base/usable_cpus.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace csrkit {
namespace {

TEST(UsableCpus, AreThoseOfTheMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<int> all = usable_cpus();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(static_cast<int>(all.size()), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(all.back(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus(), std::vector<int>{all.back()});
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(UsableCpus, RangesAreShort) {
  EXPECT_EQ(ranges_of({}), "");
  EXPECT_EQ(ranges_of({7}), "7");
  EXPECT_EQ(ranges_of({0, 1, 2, 5}), "0-2,5");
  EXPECT_EQ(ranges_of({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

}  // namespace
}  // namespace csrkit

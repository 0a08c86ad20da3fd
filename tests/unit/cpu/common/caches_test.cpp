#include "cpu/common/caches.h"

#include <gtest/gtest.h>

namespace csrkit::cpu {
namespace {

TEST(CacheSizes, ALastLevelIsAsLargeAsAPrivateOne) {
  const CacheSizes sizes = cache_sizes();
  EXPECT_GE(sizes.private_bytes, 16u << 10);
  EXPECT_GE(sizes.last_level_bytes, sizes.private_bytes);
}

}  // namespace
}  // namespace csrkit::cpu

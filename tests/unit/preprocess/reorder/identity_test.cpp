#include <gtest/gtest.h>

#include "preprocess/reorder/reorder.h"
#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

TEST(Identity, MovesNothing) {
  const CsrMatrix matrix = test::power_law(100, 500, 1);
  const Permutation order = make_ordering("identity", matrix).order;
  for (Index row = 0; row < 100; ++row) EXPECT_EQ(order.new_of_old()[row], row);
  EXPECT_TRUE(identical(permute_both(matrix, order), matrix));
}

}  // namespace
}  // namespace csrkit

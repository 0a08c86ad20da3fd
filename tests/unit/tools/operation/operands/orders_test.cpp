#include "tools/operation/operands/orders.h"

#include <gtest/gtest.h>

#include "tools/cli/log.h"

namespace csrkit {
namespace {

std::optional<Permutation> order_of(const std::vector<Index>& new_of_old) {
  return Permutation::from_new_of_old(
      Buffer<Index>::copy_of(new_of_old.data(), static_cast<Offset>(new_of_old.size())), "a test");
}

bool warns(const std::optional<Permutation>& one, const std::optional<Permutation>& other) {
  testing::internal::CaptureStderr();
  start_log("csr-test");
  set_log_level(LogLevel::normal);
  warn_of_other_order(one, other, 3, "rows of 'a.csr'");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(said.empty() || said.find("rows of 'a.csr' are in different orders") != said.npos);
  return !said.empty();
}

TEST(Orders, NoneIsThatOfImport) {
  const auto import = order_of({0, 1, 2}), moved = order_of({2, 0, 1}), other = order_of({1, 2, 0});
  EXPECT_FALSE(warns(std::nullopt, std::nullopt));
  EXPECT_FALSE(warns(std::nullopt, import));
  EXPECT_FALSE(warns(moved, order_of({2, 0, 1})));
  EXPECT_TRUE(warns(std::nullopt, moved));
  EXPECT_TRUE(warns(moved, import));
  EXPECT_TRUE(warns(moved, other));
}

}  // namespace
}  // namespace csrkit

#include "core/base/available_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "core/base/error.h"

namespace csrkit {
namespace {

TEST(AvailableMemory, IsSomethingBetweenNothingAndTheMachine) {
  const std::uint64_t machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_GT(available_memory_bytes(), 0u);
  EXPECT_LE(available_memory_bytes(), machine);
}

TEST(AvailableMemory, TheRefusalHoldsBothNumbers) {
  EXPECT_NO_THROW(require_available_memory(1, "the test", "try less"));
  try {
    require_available_memory(1ull << 60, "the test", "try less");
    FAIL() << "a 1 EiB forecast was accepted";
  } catch (const MemoryError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind("the test needs about 1099511627776 MiB, ", 0), 0u) << message;
    EXPECT_NE(message.find(" MiB are available; try less"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace csrkit

#include "tools/support/run_tool.h"

#include <gtest/gtest.h>

#include <csignal>
#include <new>

#include "core/error.h"

namespace csrkit {
namespace {

template <class Thrown>
int code_of(Thrown thrown) {
  return run_tool("tool", [&]() -> int { throw thrown; });
}

TEST(RunTool, EveryKindOfErrorHasItsExitCode) {
  EXPECT_EQ(code_of(VerifyError("x")), 1);
  EXPECT_EQ(code_of(UsageError("x")), 2);
  EXPECT_EQ(code_of(InputError("x")), 3);
  EXPECT_EQ(code_of(IoError("x")), 4);
  EXPECT_EQ(code_of(MemoryError("x")), 5);
  EXPECT_EQ(code_of(std::bad_alloc()), 5);
  EXPECT_EQ(code_of(NoDeviceError("x")), 6);
  EXPECT_EQ(code_of(DeviceError("x")), 7);
  EXPECT_EQ(code_of(std::runtime_error("x")), kExitInternal);
  EXPECT_EQ(code_of(Finished{3}), 3);
  EXPECT_EQ(run_tool("tool", [] { return 1; }), 1);
}

TEST(RunTool, MessagesMayHoldBraces) {
  testing::internal::CaptureStderr();
  code_of(InputError("a{0}.mtx:3: expected {}, found %s"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tool: error: a{0}.mtx:3: expected {}, found %s\n");
}

TEST(RunToolDeathTest, SignalsExitWith128PlusTheirNumber) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGPIPE}) {
    EXPECT_EXIT(run_tool("tool", [&] { return raise(signal_number); }),
                testing::ExitedWithCode(128 + signal_number), "");
  }
}

}  // namespace
}  // namespace csrkit

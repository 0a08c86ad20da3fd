#include "tools/cli/run_tool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace csrkit {
namespace {

template <class Thrown>
int code_of(Thrown thrown) {
  return run_tool("tool", [&]() -> int { throw thrown; });
}

/// Throws where nothing may be thrown: the caller is noexcept, as OpenMP regions are.
template <class Thrown, class... Arguments>
int code_of_region(Arguments... arguments) {
  throw Thrown(arguments...);
}

/// The same, where something is destroyed on the way.
struct HalfMade {
  std::vector<int> made;
  int unmade;
  explicit HalfMade(std::size_t size) : made(size), unmade(code_of_region<std::bad_alloc>()) {}
};

int code_of_region_that_owns() {
  int sum = 0;
#pragma omp parallel num_threads(1) reduction(+ : sum)
  {
    const HalfMade numbers(3);
    sum += numbers.made[0] + numbers.unmade;
  }
  return sum;
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
  EXPECT_EQ(
      code_of(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))),
      5);
  EXPECT_EQ(code_of(std::filesystem::filesystem_error(
                "x", std::make_error_code(std::errc::filename_too_long))),
            4);
  EXPECT_EQ(code_of(Finished{3}), 3);
  EXPECT_EQ(run_tool("tool", [] { return 1; }), 1);
}

TEST(RunTool, MessagesMayHoldBraces) {
  testing::internal::CaptureStderr();
  code_of(InputError("a{0}.mtx:3: expected {}, found %s"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tool: error: a{0}.mtx:3: expected {}, found %s\n");
}

TEST(RunToolDeathTest, WhatEndsTheProcessBehindItsBackHasItsExitCodeToo) {
  // As libgomp does when it cannot start a thread.
  EXPECT_EXIT(run_tool("tool", []() -> int { std::exit(1); }), testing::ExitedWithCode(5),
              "tool: error: a library ended this process");
  // As an exception does that leaves an OpenMP region.
  EXPECT_EXIT(run_tool("tool", []() noexcept { return code_of_region<std::bad_alloc>(); }),
              testing::ExitedWithCode(5), "tool: error: not enough memory");
  EXPECT_EXIT(run_tool("tool", code_of_region_that_owns), testing::ExitedWithCode(5),
              "not enough memory");
  EXPECT_EXIT(run_tool("tool", []() noexcept { return code_of_region<Error>("x"); }),
              testing::ExitedWithCode(kExitInternal), "tool: error: x");
}

/// Two threads that a library ends at once, as of ranks that are threads. The first cannot finish
/// its message before the second has had its time: the pipe that it writes to is full.
int end_in_two_threads() {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  while (write(ends[1], "full", 4) > 0) {
  }
  fcntl(ends[1], F_SETFL, 0);
  dup2(ends[1], STDERR_FILENO);
  std::thread first([] { std::exit(1); }), second([] { std::exit(1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (char byte; read(ends[0], &byte, 1) == 1;) {
  }
  first.join();
  second.join();
  return 0;
}

TEST(RunToolDeathTest, ThreadsThatEndTheProcessAtOnceLeaveTheExitCodeAlone) {
  EXPECT_EXIT(run_tool("tool", end_in_two_threads), testing::ExitedWithCode(5), "");
}

TEST(RunToolDeathTest, SignalsExitWith128PlusTheirNumber) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    std::signal(signal_number, SIG_DFL);  // whoever started the tests may have ignored it
    EXPECT_EXIT(run_tool("tool", [&] { return raise(signal_number); }),
                testing::ExitedWithCode(128 + signal_number), "");
  }
}

}  // namespace
}  // namespace csrkit

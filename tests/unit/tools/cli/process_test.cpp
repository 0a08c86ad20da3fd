#include "tools/cli/process.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "core/base/usable_cpus.h"
#include "tools/cli/log.h"

namespace csrkit {
namespace {

/// What say_process writes to stderr at a level.
std::string said(LogLevel level, int threads, const std::string& memory_limit) {
  testing::internal::CaptureStderr();
  start_log("csr-test");
  set_log_level(level);
  say_process(threads, memory_limit);
  set_log_level(LogLevel::normal);
  return testing::internal::GetCapturedStderr();
}

TEST(Process, NamesTheCoresThatItMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<int> all = usable_cpus();
  ASSERT_FALSE(all.empty());
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(all.back(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const std::string text = said(LogLevel::verbose, 3, "8G");
  EXPECT_NE(text.find("threads: 3 on cores " + std::to_string(all.back()) + "\n"),
            std::string::npos)
      << text;
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Process, SaysItAllWithVerboseAlone) {
  const std::string text = said(LogLevel::verbose, 0, "8G");
  EXPECT_NE(text.find("instructions of CPU kernels: "), std::string::npos) << text;
  EXPECT_NE(text.find(", limit 8G\n"), std::string::npos) << text;
  EXPECT_NE(said(LogLevel::verbose, 0, "").find(", no limit given\n"), std::string::npos);
  EXPECT_EQ(said(LogLevel::normal, 0, "8G"), "");
  EXPECT_EQ(said(LogLevel::quiet, 0, "8G"), "");
}

}  // namespace
}  // namespace csrkit

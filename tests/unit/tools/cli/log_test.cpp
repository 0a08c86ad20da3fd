#include "tools/cli/log.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

/// What reaches stderr at a level.
std::string said(LogLevel level) {
  testing::internal::CaptureStderr();
  start_log("csr-test");
  set_log_level(level);
  log_debug("detail");
  log_info("50 {} %d");
  log_warning("careful");
  log_error("wrong");
  return testing::internal::GetCapturedStderr();
}

TEST(Log, TheLevelDecides) {
  EXPECT_EQ(said(LogLevel::quiet), "csr-test: error: wrong\n");
  EXPECT_EQ(said(LogLevel::normal),
            "csr-test: info: 50 {} %d\ncsr-test: warning: careful\ncsr-test: error: wrong\n");
  EXPECT_EQ(said(LogLevel::verbose).rfind("csr-test: debug: detail\n", 0), 0u);
  set_log_level(LogLevel::normal);
}

TEST(Log, AMessageTakesTheStatusLineAway) {
  start_log("csr-test");
  testing::internal::CaptureStderr();
  show_status_line("reading 50 %");
  log_error("wrong");
  log_error("again");  // nothing is left to take away
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\033[Kreading 50 %\r\033[Kcsr-test: error: wrong\ncsr-test: error: again\n");
}

}  // namespace
}  // namespace csrkit

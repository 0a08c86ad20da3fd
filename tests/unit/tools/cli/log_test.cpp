#include "tools/cli/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

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

TEST(Progress, FilesAndPipesStayClean) {
  testing::internal::CaptureStderr();  // a file
  const bool is_shown = static_cast<bool>(terminal_progress());
  testing::internal::GetCapturedStderr();
  EXPECT_FALSE(is_shown);
}

TEST(Progress, ATerminalSeesHowFarItIs) {
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
    GTEST_SKIP() << "no terminal to be had";
  }
  const int other_end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(other_end, 0);
  const int stderr_before = dup(STDERR_FILENO);
  dup2(other_end, STDERR_FILENO);
  set_log_level(LogLevel::quiet);
  const bool is_shown_quietly = static_cast<bool>(terminal_progress());
  set_log_level(LogLevel::normal);
  const ProgressCallback progress = terminal_progress();
  if (progress) progress("sorting", 1, 4);
  clear_status_line();
  setenv("NO_COLOR", "1", 1);
  const bool is_shown_without_color = static_cast<bool>(terminal_progress());
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  const bool is_shown_when_dumb = static_cast<bool>(terminal_progress());
  dup2(stderr_before, STDERR_FILENO);
  EXPECT_FALSE(is_shown_quietly || is_shown_without_color || is_shown_when_dumb);
  ASSERT_TRUE(static_cast<bool>(progress));
  // What was written may arrive in several pieces.
  const std::string expected = "\r\033[Ksorting  25 %\r\033[K";
  std::string shown;
  for (char piece[64]; shown.size() < expected.size();) {
    pollfd waited{terminal, POLLIN, 0};
    if (poll(&waited, 1, 5000) != 1) break;
    shown.append(piece, static_cast<std::size_t>(read(terminal, piece, sizeof piece)));
  }
  EXPECT_EQ(shown, expected);
  close(stderr_before);
  close(other_end);
  close(terminal);
}

}  // namespace
}  // namespace csrkit

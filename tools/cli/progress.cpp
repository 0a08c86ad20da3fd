#include "tools/cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/cli/log.h"

namespace csrkit {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(100);  // between updates: readable, and cheap

void show(const char* phase, std::uint64_t done, std::uint64_t total) {
  static Clock::time_point last;
  const Clock::time_point now = Clock::now();
  if (now - last < kPause) return;
  last = now;
  char amount[32];
  if (total > 0) {
    std::snprintf(amount, sizeof amount, "%3.0f %%",
                  100 * static_cast<double>(done) / static_cast<double>(total));
  } else {
    std::snprintf(amount, sizeof amount, "%llu", static_cast<unsigned long long>(done));
  }
  show_status_line(std::string(phase) + ' ' + amount);
}

/// Whether stderr is a terminal on which a line can be written again, and the user wants that.
bool obeys_escapes() {
  const char* const terminal = std::getenv("TERM");
  const char* const plain = std::getenv("NO_COLOR");  // no-color.org: set and not empty
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string(terminal) != "dumb" &&
         (plain == nullptr || *plain == '\0');
}

}  // namespace

ProgressCallback terminal_progress() {
  if (log_level() == LogLevel::quiet || !obeys_escapes()) return {};
  return show;
}

}  // namespace csrkit

#include "tools/support/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "tools/support/log.h"

namespace csrkit {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(100);  // between updates: readable, and cheap

bool is_shown = false;

void show(const char* phase, std::uint64_t done, std::uint64_t total) {
  static Clock::time_point last;
  const Clock::time_point now = Clock::now();
  if (now - last < kPause) return;
  last = now;
  if (total > 0) {
    const double share = static_cast<double>(done) / static_cast<double>(total);
    std::fprintf(stderr, "\r\033[K%s %3.0f %%", phase, 100 * share);
  } else {
    std::fprintf(stderr, "\r\033[K%s %llu", phase, static_cast<unsigned long long>(done));
  }
  std::fflush(stderr);
  is_shown = true;
}

}  // namespace

ProgressCallback terminal_progress() {
  if (log_level() == LogLevel::quiet || isatty(STDERR_FILENO) == 0) return {};
  return show;
}

void clear_progress_line() {
  if (!is_shown) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  is_shown = false;
}

}  // namespace csrkit

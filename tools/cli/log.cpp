#include "tools/cli/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tools/cli/printable.h"

namespace csrkit {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(100);  // between updates: readable, and cheap

constexpr const char* kEraseLine = "\r\033[K";

LogLevel current_level = LogLevel::normal;
bool is_status_shown = false;

void say(spdlog::level::level_enum level, const std::string& message) {
  clear_status_line();
  // The message is an argument, never a format: it may hold braces.
  spdlog::log(level, "{}", printable(message));
}

void show_progress(const char* phase, std::uint64_t done, std::uint64_t total) {
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

void start_log(const std::string& tool) {
  // spdlog's own default logger writes to stdout.
  auto logger =
      std::make_shared<spdlog::logger>(tool, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%n: %l: %v");
  spdlog::set_default_logger(std::move(logger));
  set_log_level(LogLevel::normal);
}

void set_log_level(LogLevel level) {
  current_level = level;
  spdlog::set_level(level == LogLevel::quiet     ? spdlog::level::err
                    : level == LogLevel::verbose ? spdlog::level::debug
                                                 : spdlog::level::info);
}

LogLevel log_level() { return current_level; }

void log_debug(const std::string& message) { say(spdlog::level::debug, message); }
void log_info(const std::string& message) { say(spdlog::level::info, message); }
void log_warning(const std::string& message) { say(spdlog::level::warn, message); }
void log_error(const std::string& message) { say(spdlog::level::err, message); }

void show_status_line(const std::string& text) {
  std::fprintf(stderr, "%s%s", kEraseLine, text.c_str());
  std::fflush(stderr);
  is_status_shown = true;
}

void clear_status_line() {
  if (!is_status_shown) return;
  std::fputs(kEraseLine, stderr);
  std::fflush(stderr);
  is_status_shown = false;
}

ProgressCallback terminal_progress() {
  if (log_level() == LogLevel::quiet || !obeys_escapes()) return {};
  return show_progress;
}

}  // namespace csrkit

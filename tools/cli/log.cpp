#include "tools/cli/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>

#include "tools/cli/printable.h"

namespace csrkit {

namespace {

constexpr const char* kEraseLine = "\r\033[K";

LogLevel current_level = LogLevel::normal;
bool is_status_shown = false;

void say(spdlog::level::level_enum level, const std::string& message) {
  clear_status_line();
  // The message is an argument, never a format: it may hold braces.
  spdlog::log(level, "{}", printable(message));
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

}  // namespace csrkit

// What a tool says about its work, on stderr; stdout belongs to results.
#pragma once

#include <string>

namespace csrkit {

enum class LogLevel { quiet, normal, verbose };

void start_log(const std::string& tool);
void set_log_level(LogLevel level);
LogLevel log_level();

void log_debug(const std::string& message);    // with --verbose
void log_info(const std::string& message);     // unless --quiet
void log_warning(const std::string& message);  // unless --quiet
void log_error(const std::string& message);    // always

}  // namespace csrkit

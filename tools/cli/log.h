// What a tool says about its work, on stderr; stdout belongs to results.
#pragma once

#include <string>

#include "core/base/progress.h"

namespace csrkit {

enum class LogLevel { quiet, normal, verbose };

void start_log(const std::string& tool);
void set_log_level(LogLevel level);
LogLevel log_level();

void log_debug(const std::string& message);    // with --verbose
void log_info(const std::string& message);     // unless --quiet
void log_warning(const std::string& message);  // unless --quiet
void log_error(const std::string& message);    // always

/// Replaces the line at the terminal that says how far the work is. Messages and results remove it
/// before they are written.
void show_status_line(const std::string& text);
void clear_status_line();

/// One line on a terminal that says how far the work is, for the libraries' `progress` options.
/// Empty if --quiet was given, or stderr is no terminal, or one that asks for plain text
/// (TERM=dumb, NO_COLOR): pipes and logs stay clean.
ProgressCallback terminal_progress();

}  // namespace csrkit

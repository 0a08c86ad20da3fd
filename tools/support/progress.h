// One line on stderr that says how far the work is. Only at a terminal: pipes and logs stay clean.
#pragma once

#include "core/progress.h"

namespace csrkit {

/// For the libraries' `progress` options; empty if stderr is no terminal or --quiet was given.
ProgressCallback terminal_progress();

/// Removes the line, if one is shown, so that something else can be written there.
void clear_progress_line();

}  // namespace csrkit

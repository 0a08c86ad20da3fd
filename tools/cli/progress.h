// One line on stderr that says how far the work is. Only at a terminal: pipes and logs stay clean.
#pragma once

#include "core/base/progress.h"

namespace csrkit {

/// For the libraries' `progress` options; empty if --quiet was given, or stderr is no terminal, or
/// one that asks for plain text (TERM=dumb, NO_COLOR).
ProgressCallback terminal_progress();

}  // namespace csrkit

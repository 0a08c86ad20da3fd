// Files that a tool writes under names its caller gives: what is there already is not lost by a
// slip of the hand.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/options.h"

namespace csrkit {

/// Refuses (UsageError), before any work, outputs ("" = none) that are inputs, two of one name, and
/// files that exist, unless --force: those made later by another process stay, too. The tool has
/// declared Options::writes_files().
void require_outputs(const Options& options, const std::vector<std::string>& outputs,
                     const std::vector<std::string>& inputs);

/// The same for files that a tool keeps up to date, such as tuning caches: they may exist.
void require_other_files(const std::vector<std::string>& outputs,
                         const std::vector<std::string>& inputs);

}  // namespace csrkit

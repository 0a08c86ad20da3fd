// Files that a tool writes under names its caller gives: what is there already is not lost by a
// slip of the hand.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/options.h"

namespace csrkit {

/// Refuses, before any work, outputs ("" = none) that cannot be written, or that would replace
/// something: the two below. The tool has declared Options::writes_files().
void require_outputs(const Options& options, const std::vector<std::string>& outputs,
                     const std::vector<std::string>& inputs);

/// Refuses (UsageError) outputs that are inputs, two of one name, and files that exist, unless
/// --force: those made later by another process stay, too.
void require_new_outputs(const Options& options, const std::vector<std::string>& outputs,
                         const std::vector<std::string>& inputs);

/// Refuses (IoError) what AtomicFile cannot make: it makes each, and removes it again. Of many
/// ranks one does this, for all of them. "-" is left to the tool.
void require_writable(const std::vector<std::string>& outputs);

/// Refuses outputs that are inputs, and two of one name. Files that a tool keeps up to date, such
/// as tuning caches, may exist.
void require_other_files(const std::vector<std::string>& outputs,
                         const std::vector<std::string>& inputs);

}  // namespace csrkit

// Plans kept in files: which kernel multiplies, and what it derived from the matrix.
#pragma once

#include <string>

#include "core/contract/plan.h"
#include "tools/cli/json.h"

namespace csrkit {

struct SavedPlan {
  std::string kernel;  // the row that multiplies, never a chooser
  SavedAnalysis analysis;
};

/// Written whole or not at all. `key` is a case_key.
void write_plan(const std::string& path, const Json& key, const SavedPlan& plan);

/// Throws InputError for a file that is no plan or was damaged (a digest covers all of it), and
/// UsageError, which names what differs, for a plan of another problem than `key`.
SavedPlan read_plan(const std::string& path, const Json& key);

}  // namespace csrkit

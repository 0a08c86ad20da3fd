// Plans kept in files: which kernel multiplies, and what it derived from the matrix.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace csrkit {

/// What a plan depends on: names and values, each without a line break.
using PlanKey = std::vector<std::pair<std::string, std::string>>;

struct SavedPlan {
  std::string kernel;                   // the row that multiplies, never a chooser
  std::vector<unsigned char> analysis;  // as Plan::save_analysis gave it
};

/// Written whole or not at all. Throws IoError.
void write_plan(const std::string& path, const PlanKey& key, const SavedPlan& plan);

/// Throws InputError for a file that is no plan or is damaged (a digest covers all of it), and
/// UsageError, which names the difference, for a plan with another key.
SavedPlan read_plan(const std::string& path, const PlanKey& key);

}  // namespace csrkit

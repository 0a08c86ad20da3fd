// Plans kept in files: which kernel multiplies, and what it derived from the matrix.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace csrkit {

/// What makes two cases the same one, as names and values of one line each.
using PlanKey = std::vector<std::pair<std::string, std::string>>;

struct SavedPlan {
  std::string kernel;                   // the row that multiplies, never a chooser
  std::vector<unsigned char> analysis;  // as Plan::save_analysis gave it
};

/// Written whole or not at all. Throws IoError.
void write_plan(const std::string& path, const PlanKey& key, const SavedPlan& plan);

/// Throws InputError for a file that is no plan or was damaged (a digest covers all of it), and
/// UsageError, which names what differs, for a plan of another case than `key`.
SavedPlan read_plan(const std::string& path, const PlanKey& key);

}  // namespace csrkit

// What csr-bench prints: a table for people, records for programs.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/json.h"

namespace csrkit {

/// A row per record. With `against` (a kernel's full name), a column of speeds relative to it.
std::string bench_table(const std::vector<Json>& records, const std::string& against);

/// "32", or "-" for an operation without dense operands.
std::string dense_cols_cell(const Json& identity);

/// One line of JSON on stdout, at once.
void print_record(const Json& record);

}  // namespace csrkit

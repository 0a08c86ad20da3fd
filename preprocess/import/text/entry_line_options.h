// How lines of entries are written, for their parser.
#pragma once

#include <string_view>

#include "core/base/progress.h"
#include "core/base/value_kind.h"

namespace csrkit {

/// The form of lines `row col [value]`. Blank lines are skipped everywhere.
struct EntryLineOptions {
  Offset index_base = 0;  // the smallest id
  Offset row_limit = 0;   // ids stay below index_base + limit; 0 = whatever fits an Index
  Offset col_limit = 0;
  bool has_ids = true;                    // false: lines of one value (dense arrays)
  bool is_csv_like = true;                // ',' and ';' separate too, not only blanks and tabs
  std::string_view comments;              // what begins a comment line, like "#%/" ('/' means "//")
  int value_columns = -1;                 // 0, 1, or -1 = as the first line has it
  bool values_are_integers = false;       // refuse 1.5
  bool integers_must_be_exact = false;    // refuse whole numbers beyond 2^53
  ValueKind value_kind = ValueKind::f64;  // of the values; none = they are read and dropped
  Offset expected_entries = -1;           // refuse more and fewer; -1 = unknown
  ProgressCallback progress;
};

}  // namespace csrkit

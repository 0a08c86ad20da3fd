// Lines of entries become coordinates, in parallel: every entry at its place in the order of the file,
// every error with its line.
#pragma once

#include <string_view>

#include "preprocess/import/line_reader.h"
#include "preprocess/import/scan.h"

namespace csrkit {

/// How lines of `row col [value]` are written. Blank lines are skipped everywhere.
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

struct EntryLines {
  CooMatrix coo;  // ids minus index_base; rows and cols are the limits, else the largest id + 1;
                  // values of kind none if the lines have none. Without ids: values only
  Offset entries = 0;
};

/// Parses what is left. Throws InputError "name:line: expected ..., found ...".
EntryLines parse_entry_lines(LineReader& lines, const EntryLineOptions& options);
EntryLines parse_entry_lines(ByteSource& source, const EntryLineOptions& options);

}  // namespace csrkit

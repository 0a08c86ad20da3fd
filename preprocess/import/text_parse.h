// Text becomes numbers, in parallel: blocks that end at line ends, cut into one piece per thread,
// every entry at its place in the order of the file, every error with its line.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "preprocess/import/byte_source.h"

namespace csrkit {

/// How lines of `row col [value]` are written. Blank lines are skipped everywhere.
struct EntryLineOptions {
  Offset index_base = 0;  // the smallest id
  Offset row_limit = 0;   // ids must stay below index_base + limit; 0 = whatever fits an Index
  Offset col_limit = 0;
  bool is_csv_like = true;    // ',' and ';' separate too, not only blanks and tabs
  std::string_view comments;  // characters that start a comment line, like "#%/" ('/' means "//")
  int value_columns = -1;     // 0, 1, or -1 = as the first line has it
  bool values_are_integers = false;       // refuse 1.5; and, for f64, integers that it cannot hold
  ValueKind value_kind = ValueKind::f64;  // of the values, if there are any
  Offset expected_entries = -1;           // refuse more and fewer; -1 = unknown
  std::uint64_t first_line = 1;           // number of the source's next line, for messages
  ProgressCallback progress;
};

struct EntryLines {
  CooMatrix coo;  // ids minus index_base; rows and cols as far as limits are given, else
                  // largest id + 1; values of kind none if there are none
  Offset entries = 0;
};

/// Parses what is left of `source`. Throws InputError "name:line: expected ..., found ...".
EntryLines parse_entry_lines(ByteSource& source, const EntryLineOptions& options);

}  // namespace csrkit

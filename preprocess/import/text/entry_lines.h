// Parses lines of entries into coordinates, in parallel. Entries keep the order of the file, and
// errors name their line.
#pragma once

#include "core/matrix/overflow.h"
#include "core/matrix/sort/coo_to_csr.h"
#include "preprocess/import/source/line_reader.h"
#include "preprocess/import/source/scan.h"
#include "preprocess/import/text/entry_line_options.h"

namespace csrkit {

struct EntryLines {
  /// Ids minus index_base. Rows and cols are the limits, or else the largest id + 1. The kind is
  /// none if the lines have no values. Without ids: values only.
  CooMatrix coo;
  Offset entries = 0;
  Underflow underflow;
  std::string doubt_of_end;  // for a warning: the last number may be cut
};

/// Parses the rest of the lines. Throws InputError "name:line: expected ..., found ...".
EntryLines parse_entry_lines(LineReader& lines, const EntryLineOptions& options);
EntryLines parse_entry_lines(ByteSource& source, const EntryLineOptions& options);

}  // namespace csrkit

// One piece of text as entries: what a thread reads, into which arrays, and the faults it reports.
#pragma once

#include <string>

#include "preprocess/import/source/line_reader.h"
#include "preprocess/import/text/entry_line_options.h"

namespace csrkit {

enum class Fault { none, row, col, row_range, col_range, value, integer, inexact, overflow, extra };

/// A part of a block for one thread. Its entries go to the slots from `first_slot`.
struct EntryPiece {
  TextPiece text;
  Offset first_slot = 0;
  Offset count = 0;
  Index largest_row = -1, largest_col = -1;
  Offset underflows = 0;  // values that are not 0 and are kept as 0
  const char* first_underflow = nullptr;
  Fault fault = Fault::none;
  const char* fault_at = nullptr;
};

/// The arrays that grow while a file is read.
struct EntryStore {
  Buffer<Index> rows, cols;
  ValueArray values;
  Offset size = 0, capacity = 0;
  bool has_ids = true;

  /// Makes room for so many entries.
  void reserve(Offset wanted);
  /// Moves entries within the arrays.
  void move(Offset from, Offset to, Offset count);
};

/// Ids are read minus `base` and must be below the limits.
struct IdLimits {
  std::uint64_t base, rows, cols;
};

/// Reads the entries of a piece into the store, and their number and largest ids into the piece. At
/// the first fault it stops and notes it in the piece.
using ParsePiece = void (*)(const EntryLineOptions& options, const IdLimits& limits,
                            EntryStore& store, EntryPiece& piece);
ParsePiece choose_parser(const EntryLineOptions& options, bool has_value);

/// The first line that holds an entry, "" if none does. `block` ends at a line end.
std::string_view first_entry_line(std::string_view block, std::string_view comments);

/// What was expected where the piece stopped, and what was found there.
std::string describe(const EntryPiece& piece, const EntryLineOptions& options, bool has_value);

}  // namespace csrkit

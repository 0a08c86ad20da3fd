#include "preprocess/import/entry_lines.h"

#include <algorithm>

#include "core/base/counted.h"
#include "preprocess/import/entry_piece.h"
#include "preprocess/import/scan.h"

namespace csrkit {

namespace {

int count_words(std::string_view line) {
  int words = 0;
  bool inside = false;
  for (const char c : line) {
    const bool is_separator = scan::is_blank(c) || c == ',' || c == ';' || c == '\r';
    words += !inside && !is_separator;
    inside = !is_separator;
  }
  return words;
}

}  // namespace

EntryLines parse_entry_lines(ByteSource& source, const EntryLineOptions& options) {
  LineReader lines(source);
  return parse_entry_lines(lines, options);
}

EntryLines parse_entry_lines(LineReader& lines, const EntryLineOptions& options) {
  const Offset expected = options.expected_entries;
  const auto base = static_cast<std::uint64_t>(options.index_base);
  const auto limit_of = [](Offset limit) {
    return static_cast<std::uint64_t>(limit > 0 ? limit : kMaxIndex);
  };
  // With an expected number of entries, 0 rows means that no id is legal, not that all ids are.
  const bool sizes_are_given = expected >= 0 && options.has_ids;
  IdLimits limits{base, limit_of(options.row_limit), limit_of(options.col_limit)};
  if (sizes_are_given) {
    limits.rows = static_cast<std::uint64_t>(options.row_limit);
    limits.cols = static_cast<std::uint64_t>(options.col_limit);
  }

  EntryStore store;
  store.has_ids = options.has_ids;
  ParsePiece parse = nullptr;
  bool has_value = options.value_columns == 1;
  Index largest_row = -1, largest_col = -1;
  const std::uint64_t first_byte = lines.bytes_done();

  std::string_view block;
  std::vector<TextPiece> cuts;
  std::vector<EntryPiece> pieces;
  while (lines.next_block(block)) {
    if (parse == nullptr) {
      const std::string_view first = first_entry_line(block, options.comments);
      if (first.empty()) {
        lines.count_lines(count_line_ends(block));
        continue;
      }
      if (options.value_columns < 0) has_value = count_words(first) >= 3;
      parse = choose_parser(options, has_value);
      store.values = ValueArray(has_value ? options.value_kind : ValueKind::none, 0);
      // No more than a file has bytes for, whatever its header says. The size of compressed data is
      // unknown, so memory grows with what is read.
      const Offset least_bytes = options.has_ids ? 4 : 2;
      const Offset possible =
          lines.bytes_left() >= 0
              ? (static_cast<Offset>(block.size()) + lines.bytes_left()) / least_bytes + 1
              : Offset{1} << 20;
      if (expected >= 0) store.reserve(std::min(expected, possible));
    }
    const std::uint64_t block_lines = cut_into_pieces(block, usual_pieces(), cuts);
    const Offset needed = store.size + static_cast<Offset>(block_lines);
    if (needed > store.capacity) {
      // At the end of a file some lines may be blank: leave room for them without doubling.
      Offset wanted = std::max(needed, store.capacity + store.capacity / 2);
      if (expected >= 0) wanted = std::max(needed, std::min(wanted, expected));
      const double entries_per_byte =
          static_cast<double>(needed) / static_cast<double>(lines.bytes_done() - first_byte);
      if (expected < 0 && lines.bytes_left() >= 0) {
        wanted = std::max(needed,
                          static_cast<Offset>(
                              1.02 * entries_per_byte *
                              static_cast<double>(lines.bytes_done() - first_byte +
                                                  static_cast<std::uint64_t>(lines.bytes_left()))));
      }
      store.reserve(wanted);
    }
    pieces.clear();
    for (const TextPiece& cut : cuts) {
      EntryPiece piece;
      piece.text = cut;
      piece.first_slot = store.size + static_cast<Offset>(cut.lines_before);
      pieces.push_back(piece);
    }
    const auto count = static_cast<int>(pieces.size());
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
    for (int i = 0; i < count; ++i) parse(options, limits, store, pieces[i]);

    for (const EntryPiece& piece : pieces) {
      if (piece.fault != Fault::none) {
        const std::string_view text = piece.text.text;
        const std::string_view before =
            text.substr(0, static_cast<std::size_t>(piece.fault_at - text.data()));
        const std::uint64_t line = lines.line() + piece.text.lines_before + count_line_ends(before);
        lines.require_no_lone_cr(line, text.substr(before.rfind('\n') + 1));
        lines.refuse(line, describe(piece, options, has_value));
      }
      if (piece.first_slot != store.size) store.move(piece.first_slot, store.size, piece.count);
      store.size += piece.count;
      largest_row = std::max(largest_row, piece.largest_row);
      largest_col = std::max(largest_col, piece.largest_col);
    }
    lines.count_lines(block_lines);
    if (expected >= 0 && store.size > expected) {
      lines.refuse(lines.line() - 1, "expected " + counted(expected, "entry") +
                                         " as the header says, found at least " +
                                         std::to_string(store.size) + " up to here");
    }
    if (options.progress) options.progress("reading", lines.bytes_done(), lines.bytes_total());
  }
  if (expected >= 0 && store.size < expected) {
    lines.refuse(lines.line(), "expected " + counted(expected, "entry") +
                                   " as the header says, found only " + std::to_string(store.size) +
                                   "; the file is cut short or its header is wrong");
  }

  EntryLines result;
  result.entries = store.size;
  store.rows.truncate(store.size);
  store.cols.truncate(store.size);
  store.values.truncate(store.size);
  result.coo.rows = static_cast<Index>(
      options.row_limit > 0 || sizes_are_given ? options.row_limit : Offset{largest_row} + 1);
  result.coo.cols = static_cast<Index>(
      options.col_limit > 0 || sizes_are_given ? options.col_limit : Offset{largest_col} + 1);
  result.coo.row_indices = std::move(store.rows);
  result.coo.col_indices = std::move(store.cols);
  result.coo.values = std::move(store.values);
  if (parse == nullptr && has_value) result.coo.values = ValueArray(options.value_kind, 0);
  return result;
}

}  // namespace csrkit

#include "preprocess/import/text/entry_lines.h"

#include <algorithm>

#include "core/base/counted.h"
#include "preprocess/import/source/scan.h"
#include "preprocess/import/text/entry_piece.h"

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

/// The entries of all lines, block by block.
class EntryParser {
 public:
  EntryParser(LineReader& lines, const EntryLineOptions& options)
      : lines_(lines),
        options_(options),
        expected_(options.expected_entries),
        sizes_are_given_(expected_ >= 0 && options.has_ids),
        limits_(limits_of(options, sizes_are_given_)),
        has_value_(options.value_columns == 1),
        first_byte_(lines.bytes_done()) {
    store_.has_ids = options.has_ids;
  }

  EntryLines parse_all() {
    std::string_view block;
    while (lines_.next_block(block)) {
      if (parse_ == nullptr && !begin(block)) {
        lines_.count_lines(count_line_ends(block));
        continue;
      }
      take(block);
      if (options_.progress)
        options_.progress("reading", lines_.bytes_done(), lines_.bytes_total());
    }
    if (expected_ >= 0 && store_.size < expected_) {
      lines_.refuse(lines_.line(), "expected " + counted(expected_, "entry") +
                                       " as the header says, found only " +
                                       std::to_string(store_.size) +
                                       "; the file is cut short or its header is wrong");
    }
    EntryLines entries = result();
    entries.doubt_of_end = doubt();
    return entries;
  }

 private:
  static IdLimits limits_of(const EntryLineOptions& options, bool sizes_are_given) {
    // With an expected number of entries, 0 rows means that no id is legal, not that all ids are.
    const auto limit = [&](Offset given) {
      return static_cast<std::uint64_t>(given > 0 || sizes_are_given ? given : Offset{kMaxIndex});
    };
    return {static_cast<std::uint64_t>(options.index_base), limit(options.row_limit),
            limit(options.col_limit)};
  }

  /// Chooses the parser by the first line that holds an entry; false if the block has none.
  bool begin(std::string_view block) {
    const std::string_view first = first_entry_line(block, options_.comments);
    if (first.empty()) return false;
    if (options_.value_columns < 0) has_value_ = count_words(first) >= 3;
    parse_ = choose_parser(options_, has_value_);
    store_.values = ValueArray(has_value_ ? options_.value_kind : ValueKind::none, 0);
    // No more than a file has bytes for, whatever its header says. The size of compressed data is
    // unknown, so memory grows with what is read.
    const Offset least_bytes = options_.has_ids ? 4 : 2;
    const Offset possible =
        lines_.bytes_left() >= 0
            ? (static_cast<Offset>(block.size()) + lines_.bytes_left()) / least_bytes + 1
            : Offset{1} << 20;
    if (expected_ >= 0) store_.reserve(std::min(expected_, possible));
    return true;
  }

  void take(std::string_view block) {
    const std::uint64_t block_lines = cut_into_pieces(block, usual_pieces(), cuts_);
    make_room(store_.size + static_cast<Offset>(block_lines));
    pieces_.clear();
    for (const TextPiece& cut : cuts_) {
      EntryPiece piece;
      piece.text = cut;
      piece.first_slot = store_.size + static_cast<Offset>(cut.lines_before);
      pieces_.push_back(piece);
    }
    const auto count = static_cast<int>(pieces_.size());
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
    for (int i = 0; i < count; ++i) parse_(options_, limits_, store_, pieces_[i]);
    for (const EntryPiece& piece : pieces_) append(piece);
    lines_.count_lines(block_lines);
    if (expected_ >= 0 && store_.size > expected_) {
      lines_.refuse(lines_.line() - 1, "expected " + counted(expected_, "entry") +
                                           " as the header says, found at least " +
                                           std::to_string(store_.size) +
                                           " up to here; correct the header, or remove the rest");
    }
  }

  /// Room for `needed` entries, and for as many as the rest of the file may hold.
  void make_room(Offset needed) {
    if (needed <= store_.capacity) return;
    // At the end of a file some lines may be blank: leave room for them without doubling.
    Offset wanted = std::max(needed, store_.capacity + store_.capacity / 2);
    if (expected_ >= 0) {
      wanted = std::max(needed, std::min(wanted, expected_));
    } else if (lines_.bytes_left() >= 0) {
      const auto done = static_cast<double>(lines_.bytes_done() - first_byte_);
      const double all = done + static_cast<double>(lines_.bytes_left());
      wanted =
          std::max(needed, static_cast<Offset>(1.02 * static_cast<double>(needed) / done * all));
    }
    store_.reserve(wanted);
  }

  /// Moves the piece's entries behind those before; refuses its fault.
  void append(const EntryPiece& piece) {
    if (piece.fault != Fault::none) {
      lines_.refuse_at(piece.text, piece.fault_at, describe(piece, options_, has_value_));
    }
    if (piece.underflows > 0 && underflow_.count == 0) {
      underflow_.first = scan::quote_word(piece.first_underflow) + " in line " +
                         std::to_string(lines_.line_of(piece.text, piece.first_underflow));
    }
    underflow_.count += piece.underflows;
    if (piece.first_slot != store_.size) store_.move(piece.first_slot, store_.size, piece.count);
    store_.size += piece.count;
    largest_row_ = std::max(largest_row_, piece.largest_row);
    largest_col_ = std::max(largest_col_, piece.largest_col);
  }

  std::string doubt() const {
    const bool is_dropped = has_value_ && options_.value_kind == ValueKind::none;
    const std::string last = std::string(lines_.open_line()) + "\n";
    if (is_dropped || first_entry_line(last, options_.comments).empty()) return {};
    const auto largest = static_cast<Offset>(limits_.cols + limits_.base) - 1;
    return csrkit::doubt_of_end(lines_.open_line(), lines_.line() - 1, has_value_ ? -1 : largest);
  }

  EntryLines result() {
    const auto size = [&](Offset limit, Index largest) {
      return static_cast<Index>(limit > 0 || sizes_are_given_ ? limit : Offset{largest} + 1);
    };
    EntryLines result;
    result.entries = store_.size;
    result.underflow = underflow_;
    store_.rows.truncate(store_.size);
    store_.cols.truncate(store_.size);
    store_.values.truncate(store_.size);
    result.coo.rows = size(options_.row_limit, largest_row_);
    result.coo.cols = size(options_.col_limit, largest_col_);
    result.coo.row_indices = std::move(store_.rows);
    result.coo.col_indices = std::move(store_.cols);
    result.coo.values = std::move(store_.values);
    if (parse_ == nullptr && has_value_) result.coo.values = ValueArray(options_.value_kind, 0);
    return result;
  }

  LineReader& lines_;
  const EntryLineOptions& options_;
  Offset expected_;  // entries; -1: not known
  bool sizes_are_given_;
  IdLimits limits_;
  bool has_value_;
  std::uint64_t first_byte_;  // behind the header
  EntryStore store_;
  ParsePiece parse_ = nullptr;  // until the first entry is seen
  Index largest_row_ = -1, largest_col_ = -1;
  Underflow underflow_;
  std::vector<TextPiece> cuts_;
  std::vector<EntryPiece> pieces_;
};

}  // namespace

EntryLines parse_entry_lines(ByteSource& source, const EntryLineOptions& options) {
  LineReader lines(source);
  return parse_entry_lines(lines, options);
}

EntryLines parse_entry_lines(LineReader& lines, const EntryLineOptions& options) {
  return EntryParser(lines, options).parse_all();
}

}  // namespace csrkit

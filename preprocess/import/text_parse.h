// Text becomes numbers, in parallel: blocks that end at line ends, cut into pieces for the threads,
// every entry at its place in the order of the file, every error with its line.
#pragma once

#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "preprocess/import/byte_source.h"

namespace csrkit {

/// A source as lines: first some single ones (a header), then the rest in big blocks. Decompression
/// of the next block runs while the caller works on this one.
class LineReader {
 public:
  explicit LineReader(ByteSource& source, std::uint64_t first_line = 1);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  const std::string& name() const { return source_.name(); }

  /// The next line without its line end (LF or CRLF), or false at the end. Valid until the next
  /// call.
  bool next_line(std::string_view& line);

  /// Some whole lines, each with its '\n' (the last line of the source gets one if it has none), or
  /// false at the end. Valid until the next call. The caller tells how many lines it saw.
  bool next_block(std::string_view& block);
  void count_lines(std::uint64_t lines) { line_ += lines; }

  /// Number of the line that comes next; the one before it is what next_line just gave.
  std::uint64_t line() const { return line_; }

  /// Bytes that are left if that is known, else -1.
  std::int64_t bytes_left() const;
  std::uint64_t bytes_done() const { return bytes_done_; }
  std::uint64_t bytes_total() const;  // 0 = unknown

  /// Throws InputError "name:line: message".
  [[noreturn]] void refuse(std::uint64_t line, const std::string& message) const;

 private:
  bool refill();

  ByteSource& source_;
  std::uint64_t line_;
  std::uint64_t bytes_done_ = 0;
  std::string_view rest_;        // whole lines that are not handed out yet
  std::string_view unfinished_;  // mapped sources: the last line, if it lacks its line end
  std::string last_line_;        // ... and that line with its line end
  bool is_mapped_ = false;
  bool is_at_end_ = false;
  // Streams: `buffer_` holds the whole lines of rest_ and the beginning of the next one behind
  // them.
  Buffer<char> buffer_;
  Offset carried_from_ = 0, carried_ = 0;
  Buffer<char> ahead_;  // being filled
  std::future<std::size_t> ahead_bytes_;
};

/// A part of a block for one thread, ending at a line end.
struct TextPiece {
  std::string_view text;
  std::uint64_t lines = 0;         // line ends in it
  std::uint64_t lines_before = 0;  // in this block
};

/// Cuts a block into about `pieces` pieces and counts their lines, in parallel. Returns all lines.
std::uint64_t cut_into_pieces(std::string_view block, int pieces, std::vector<TextPiece>& result);
int usual_pieces();

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

/// Reading numbers where a line end is sure to follow the text, so that it needs no other bound.
namespace scan {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline const char* skip_blanks(const char* at) {
  while (is_blank(*at)) ++at;
  return at;
}

/// Reads digits; `at` moves behind them. False if there are none or more than 18.
inline bool read_digits(const char*& at, std::uint64_t& number) {
  const char* const begin = at;
  std::uint64_t sum = 0;
  for (unsigned digit; (digit = static_cast<unsigned char>(*at - '0')) < 10; ++at) {
    sum = sum * 10 + digit;
  }
  number = sum;
  return at != begin && at - begin <= 18;
}

/// Reads a decimal number (exponent e, E, d or D; inf; nan). False if there is none or if it does
/// not fit T; `at` stays then.
template <class T>
bool read_real(const char*& at, const char* end, T& number);
extern template bool read_real(const char*& at, const char* end, float& number);
extern template bool read_real(const char*& at, const char* end, double& number);

/// The word at `at`, for messages: quoted, shortened, unprintable bytes as \xNN.
std::string quote_word(const char* at);
std::string quote(std::string_view text);

}  // namespace scan

}  // namespace csrkit

// Lines of text from a source of bytes, one by one or in blocks, and blocks in pieces for threads.
#pragma once

#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/buffer.h"
#include "preprocess/import/source/byte_source.h"

namespace csrkit {

/// The byte order mark that some editors put before UTF-8 text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
inline bool starts_with_byte_order_mark(std::string_view text) {
  return text.substr(0, kByteOrderMark.size()) == kByteOrderMark;
}

/// "found lines that end with CR alone ...", and what to do, if a CR stands within the first line
/// of `text`; "" otherwise, and if there is a byte of 0 in that line.
std::string found_lone_cr(std::string_view text);

/// A part of a block for one thread, ending at a line end.
struct TextPiece {
  std::string_view text;
  std::uint64_t lines = 0;         // line ends in it
  std::uint64_t lines_before = 0;  // in this block
};

/// A source as lines: first some single ones (a header), then the rest in big blocks. Decompression
/// of the next block runs while the caller works on this one. A line beyond the source's limit is
/// an InputError.
class LineReader {
 public:
  explicit LineReader(ByteSource& source, std::uint64_t first_line = 1);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  const std::string& name() const { return source_.name(); }

  /// The next line without its line end (LF or CRLF), or false at the end. Valid until the next
  /// call. A CR within it is an InputError: what is behind would be lost in a comment.
  bool next_line(std::string_view& line);
  /// The same line, without going on: next_line returns it again.
  bool peek_line(std::string_view& line);

  /// Some whole lines, each with its '\n' (the last line of the source gets one if it has none), or
  /// false at the end. Valid until the next call. The caller counts the lines: see count_lines.
  bool next_block(std::string_view& block);
  void count_lines(std::uint64_t lines) { line_ += lines; }

  /// Known at the end: the last line, if the text lacks a line end there and may have been cut;
  /// else "". Compressed data and members of archives say themselves where they end.
  std::string_view open_line() const;

  /// The number of the next line; next_line just gave the one before it.
  std::uint64_t line() const { return line_; }

  /// The number of remaining bytes, or -1 if it is unknown.
  std::int64_t bytes_left() const;
  std::uint64_t bytes_done() const { return bytes_done_; }
  std::uint64_t bytes_total() const;  // 0 = unknown

  /// Throws InputError "name:line: message".
  [[noreturn]] void refuse(std::uint64_t line, const std::string& message) const;

  /// The number of the line in which `place` is, in a piece of the block that next_block just gave.
  std::uint64_t line_of(const TextPiece& piece, const char* place) const;
  /// Throws InputError about that line: a CR within it, if there is one, else `message`.
  [[noreturn]] void refuse_at(const TextPiece& piece, const char* place,
                              const std::string& message) const;

 private:
  /// Throws the InputError of a CR within the line of this number that begins with `text`, if
  /// there is one.
  void require_no_lone_cr(std::uint64_t line, std::string_view text) const;
  bool refill();
  bool fill();
  std::size_t longest_line() const;
  std::size_t size_of_line() const;
  /// What is said of a line that begins with `text`.
  std::string too_long_line(std::string_view text) const;

  ByteSource& source_;
  std::uint64_t line_;
  std::uint64_t bytes_done_ = 0;
  std::string_view rest_;        // whole lines that are not handed out yet
  std::string_view unfinished_;  // mapped sources: the last line, if it lacks its line end
  std::string last_line_;        // of any source, if it lacks its line end, and with that
  bool is_mapped_ = false;
  bool is_at_start_ = true;
  bool is_at_end_ = false;
  // Streams: `buffer_` holds the whole lines of rest_ and the beginning of the next one behind
  // them.
  Buffer<char> buffer_;
  Offset carried_from_ = 0, carried_ = 0;
  Buffer<char> ahead_;  // being filled
  std::future<std::size_t> ahead_bytes_;
};

/// What a warning says if `open_line`, the last one, of this number, ends right behind a number of
/// which more digits may have been cut; else "". Whole numbers up to `largest` leave less doubt.
std::string doubt_of_end(std::string_view open_line, std::uint64_t line, Offset largest = -1);

/// Cuts a block into about `pieces` pieces and counts their lines, in parallel. Returns all lines.
std::uint64_t cut_into_pieces(std::string_view block, int pieces, std::vector<TextPiece>& result);
int usual_pieces();
std::uint64_t count_line_ends(std::string_view text);

}  // namespace csrkit

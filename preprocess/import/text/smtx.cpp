// The text format of the Deep Learning Matrix Collection (Gale, Zaharia, Young, Elsen, SC 2020): a
// line "rows, columns, nonzeros", a line of row offsets and a line of columns. Pattern only.
#include "preprocess/import/format_reader.h"
#include "preprocess/import/source/line_reader.h"
#include "preprocess/import/source/scan.h"

namespace csrkit {

namespace {

/// Three numbers with commas between; false if it is anything else.
bool parse_sizes(std::string_view line, std::uint64_t (&sizes)[3]) {
  const std::string text = std::string(line) + "\n";  // a line end stops the scan
  const char* at = text.data();
  for (int i = 0; i < 3; ++i) {
    at = scan::skip_blanks(at);
    if (!scan::read_digits(at, sizes[i])) return false;
    at = scan::skip_blanks(at);
    if (i < 2 && *at++ != ',') return false;
  }
  return *at == '\n' || *at == '\r';
}

/// The numbers of the next line: exactly `count`.
template <class T>
Buffer<T> read_numbers(LineReader& lines, Offset count, const char* what) {
  std::string_view line;
  if (!lines.next_line(line)) line = {};
  const std::string text = std::string(line) + "\n";
  const char* at = scan::skip_blanks(text.data());
  // A number takes two bytes at least, so the line bounds what its header claims.
  Buffer<T> numbers(std::min(count, static_cast<Offset>(text.size() / 2 + 1)));
  Offset found = 0;
  for (std::uint64_t number; *at != '\n' && *at != '\r'; at = scan::skip_blanks(at), ++found) {
    const char* const word = at;
    if (!scan::read_digits(at, number) || number > static_cast<std::uint64_t>(kMaxIndex)) {
      lines.refuse(lines.line() - 1,
                   std::string("expected ") + what + ", found " + scan::quote_word(word));
    }
    if (found < numbers.size()) numbers[found] = static_cast<T>(number);
  }
  if (found != count) {
    lines.refuse(lines.line() - 1, "expected " + std::to_string(count) + " " + what + ", found " +
                                       std::to_string(found) +
                                       "; the file is cut short or its "
                                       "first line is wrong");
  }
  return numbers;
}

}  // namespace

bool matches_smtx(const Peek& peek) {
  if (peek.is_directory || peek.is_tar || peek.is_zip) return false;
  const std::size_t end = peek.head.find('\n');
  std::uint64_t sizes[3];
  if (end == std::string_view::npos || !parse_sizes(peek.head.substr(0, end), sizes)) return false;
  // "3, 3, 4" begins lists of edges, too. Offsets are another number of numbers.
  const std::string_view second =
      peek.head.substr(end + 1, peek.head.find('\n', end + 1) - end - 1);
  Offset words = 0;
  bool inside = false;
  for (const char c : second) {
    if (!scan::is_digit(c) && !scan::is_blank(c) && c != '\r') return false;
    words += scan::is_digit(c) && !inside;
    inside = scan::is_digit(c);
  }
  const bool is_whole = end + 1 + second.size() < peek.head.size();
  return is_whole ? words == static_cast<Offset>(sizes[0]) + 1 : words > 3;
}

ImportResult read_smtx(const std::string& path, const ReadRequest& request) {
  const std::shared_ptr<ByteSource> source = open_input(path, request);
  LineReader lines(*source);
  std::string_view line;
  std::uint64_t sizes[3] = {};
  const bool has_line = lines.next_line(line);
  const auto most = static_cast<std::uint64_t>(kMaxIndex);
  if (!has_line || !parse_sizes(line, sizes) || sizes[0] > most || sizes[1] > most ||
      sizes[2] > most) {
    lines.refuse(1, "expected \"rows, columns, nonzeros\" below 2^31, found " +
                        scan::quote(has_line ? line : std::string_view()));
  }
  ImportResult result;
  result.inputs.push_back({path, 0, {}});
  const auto nnz = static_cast<Offset>(sizes[2]);
  result.entries_read = nnz;
  Buffer<Offset> offsets =
      read_numbers<Offset>(lines, static_cast<Offset>(sizes[0]) + 1, "row offsets");
  Buffer<Index> columns = read_numbers<Index>(lines, nnz, "columns");
  const std::string doubt =
      doubt_of_end(lines.open_line(), lines.line() - 1, static_cast<Offset>(sizes[1]) - 1);
  if (!doubt.empty()) result.warnings.push_back(doubt);
  finish_csr({static_cast<Index>(sizes[0]), static_cast<Index>(sizes[1]), std::move(offsets),
              std::move(columns), ValueArray(ValueKind::none, nnz)},
             request, path, result);
  return result;
}

}  // namespace csrkit

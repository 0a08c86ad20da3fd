// Edge lists: one edge per line, two ids and perhaps a weight (SNAP, KONECT, csv, tsv).
//
// Row = the first id, column = the second. Without --rows and --cols the matrix is square, and the
// largest id is its last row and column. With one of them, the largest id of the other side sets
// that side. A first line that names columns ("source,target") is skipped and noted.
#include <algorithm>
#include <cctype>

#include "core/base/counted_bytes.h"
#include "core/base/error.h"
#include "preprocess/import/entry_lines.h"
#include "preprocess/import/format_reader.h"

namespace csrkit {

namespace {

constexpr std::string_view kComments = "#%/";

bool is_separator(char c) { return scan::is_blank(c) || c == ',' || c == ';'; }

bool is_comment_or_blank(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return true;
  if (line[first] == '/') return line.substr(first, 2) == "//";
  return kComments.find(line[first]) != std::string_view::npos;
}

std::vector<std::string_view> words_of(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && is_separator(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !is_separator(line[at])) ++at;
    if (at > begin) words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

bool is_id(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), scan::is_digit);
}

/// Two or three words, each beginning like a name and not like a number ("nan" is no column name).
bool names_columns(const std::vector<std::string_view>& words) {
  if (words.size() < 2 || words.size() > 3) return false;
  return std::all_of(words.begin(), words.end(), [](std::string_view word) {
    const char c = word[0] == '"' && word.size() > 1 ? word[1] : word[0];
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  });
}

bool is_edge(const std::vector<std::string_view>& words) {
  return (words.size() == 2 || words.size() == 3) && is_id(words[0]) && is_id(words[1]);
}

/// A matrix has a row for every id up to the largest, so that one edge of a few bytes can ask for
/// gigabytes of empty rows. Ids take at most as much memory as a compressed file of the same text
/// may.
void require_plausible_ids(const EntryLines& entries, const std::string& path,
                           const SourceLimits& limits) {
  constexpr std::uint64_t kLeastBytesOfALine = 4;  // "0 1" and the end of the line
  const Index ids = std::max(entries.coo.rows, entries.coo.cols);
  const std::uint64_t needed = (static_cast<std::uint64_t>(ids) + 1) * sizeof(Offset);
  const auto edges = static_cast<std::uint64_t>(entries.entries);
  if (needed <= limits.decompressed_bytes(edges * kLeastBytesOfALine)) return;
  throw InputError(path + ": expected ids near the number of edges, found " +
                   std::to_string(ids - 1) + " among " + std::to_string(edges) +
                   (edges == 1 ? " edge" : " edges") + "; rows up to it alone take " +
                   counted_bytes(needed) +
                   ": if that is meant, give --rows and --cols, or raise --max-expansion");
}

}  // namespace

bool matches_edge_list(const Peek& peek) {
  if (peek.is_directory || peek.is_tar || peek.is_zip) return false;
  bool names_seen = false;
  for (std::size_t at = 0; at < peek.head.size();) {
    const std::size_t end = std::min(peek.head.find('\n', at), peek.head.size());
    const std::string_view line = peek.head.substr(at, end - at);
    at = end + 1;
    if (is_comment_or_blank(line)) continue;
    const auto words = words_of(line);
    if (names_seen || !names_columns(words)) return is_edge(words);
    names_seen = true;
  }
  return false;
}

ImportResult read_edge_list(const std::string& path, const ReadRequest& request) {
  ImportResult result;
  result.inputs.push_back({path, 0, {}});

  const std::shared_ptr<ByteSource> source = open_input(path, request);
  LineReader lines(*source);
  std::string_view line;
  while (lines.peek_line(line)) {
    const bool names_them = names_columns(words_of(line));
    if (!names_them && !is_comment_or_blank(line)) break;
    if (names_them) result.notes["column names"] = std::string(line.substr(0, 80));
    lines.next_line(line);
    if (names_them) break;
  }
  EntryLineOptions how;
  how.index_base = request.parameters.choice("index-base");
  const Parameters& given = request.parameters;
  if (given.is_set("rows")) how.row_limit = given.index("rows");
  if (given.is_set("cols")) how.col_limit = given.index("cols");
  how.comments = kComments;
  how.value_kind = wanted_kind(request.value_kind, ValueKind::f64);
  how.progress = request.progress;
  EntryLines entries = parse_entry_lines(lines, how);
  result.entries_read = entries.entries;
  if (how.row_limit == 0 && how.col_limit == 0) {
    entries.coo.rows = entries.coo.cols = std::max(entries.coo.rows, entries.coo.cols);
    if (entries.entries == 0) {
      throw InputError(path +
                       ": expected at least one edge, found none; give --rows and --cols if "
                       "the matrix is meant to be empty");
    }
    require_plausible_ids(entries, path, request.limits);
  }
  finish_coo(std::move(entries.coo), request, path, result);
  return result;
}

}  // namespace csrkit

#include "preprocess/import/text/matrix_market_header.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/text.h"
#include "preprocess/import/source/scan.h"

namespace csrkit {

namespace {

constexpr std::string_view kKindComment = "% values are ";  // then f16, bf16, f32 or f64

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line) {
    if (scan::is_blank(c) || c == '\r') {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

/// The kind that a comment of our exporter names; f64 for anything else.
ValueKind kind_in_comment(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.substr(0, kKindComment.size()) != kKindComment) return ValueKind::f64;
  const std::string_view word = line.substr(kKindComment.size());
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f16, ValueKind::bf16}) {
    if (word == name_of(kind)) return kind;
  }
  return ValueKind::f64;
}

/// Refuses the line that was read last.
[[noreturn]] void refuse_market_line(const LineReader& lines, const std::string& message) {
  lines.refuse(lines.line() - 1, message);
}

Offset read_size(const LineReader& lines, const std::string& word, const char* what) {
  const std::string text = word + "\n";
  const char* at = text.data();
  std::uint64_t number = 0;
  if (!scan::read_digits(at, number) || *at != '\n') {
    refuse_market_line(lines, std::string("expected the number of ") + what +
                                  " as a whole number below 10^18, found " + scan::quote(word));
  }
  return static_cast<Offset>(number);
}

void set_field(const LineReader& lines, const std::string& field, MarketHeader* header) {
  header->is_pattern = field == "pattern";
  header->is_integer = field == "integer" || field == "unsigned-integer";
  if (field == "complex") {
    refuse_market_line(
        lines,
        "complex values are not supported, matrices here are real; export the real part, or import "
        "the pattern of a copy whose header says pattern and whose lines hold no values");
  }
  if (!header->is_pattern && !header->is_integer && field != "real" && field != "double") {
    refuse_market_line(lines, "expected the field \"real\", \"integer\" or \"pattern\", found " +
                                  scan::quote(field));
  }
}

void set_symmetry(const LineReader& lines, const std::string& symmetry, MarketHeader* header) {
  if (symmetry == "symmetric") {
    header->symmetry = MarketSymmetry::symmetric;
  } else if (symmetry == "skew-symmetric") {
    header->symmetry = MarketSymmetry::skew;
  } else if (symmetry == "hermitian") {
    refuse_market_line(
        lines,
        "expected a symmetry of a real matrix, found \"hermitian\", which only complex values can "
        "have; is \"symmetric\" meant?");
  } else if (symmetry != "general") {
    refuse_market_line(
        lines, "expected the symmetry \"general\", \"symmetric\" or \"skew-symmetric\", found " +
                   scan::quote(symmetry));
  }
}

/// The first line: what the entries are.
void read_banner(LineReader& lines, MarketHeader* header) {
  std::string_view line;
  if (!lines.next_line(line)) {
    lines.refuse(1, "expected a Matrix Market banner, found an empty file");
  }
  const std::vector<std::string> words = words_of(lower_case(line));
  const auto refuse = [&](const std::string& message) { refuse_market_line(lines, message); };
  if (words.empty() || words[0] != kMarketBanner) {
    refuse("expected a first line that begins with %%MatrixMarket, found " + scan::quote(line));
  }
  if (words.size() != 5) {
    refuse("expected \"%%MatrixMarket matrix <format> <field> <symmetry>\", found " +
           counted(words.size(), "word"));
  }
  if (words[1] != "matrix") {
    refuse("expected the object \"matrix\", found " + scan::quote(words[1]));
  }
  header->is_array = words[2] == "array";
  if (!header->is_array && words[2] != "coordinate") {
    refuse("expected the format \"coordinate\" or \"array\", found " + scan::quote(words[2]));
  }
  set_field(lines, words[3], header);
  set_symmetry(lines, words[4], header);
  if (header->is_pattern && header->is_array) {
    refuse("an array cannot be a pattern; is \"coordinate\" meant?");
  }
  if (header->is_pattern && header->symmetry == MarketSymmetry::skew) {
    refuse("a pattern cannot be skew-symmetric, it has no signs; is \"symmetric\" meant?");
  }
}

/// The numbers of the first line that is no comment, as words; a comment before may name the kind.
std::vector<std::string> read_size_words(LineReader& lines, MarketHeader* header) {
  std::string_view line;
  std::vector<std::string> sizes;
  while (sizes.empty()) {
    if (!lines.next_line(line)) {
      lines.refuse(lines.line(), "expected a line with the sizes, found the end of the file");
    }
    sizes = words_of(line);
    if (sizes.empty() || sizes[0][0] != '%') continue;
    sizes.clear();
    if (header->value_kind == ValueKind::f64) header->value_kind = kind_in_comment(line);
  }
  const std::size_t wanted = header->is_array ? 2 : 3;
  if (sizes.size() != wanted) {
    refuse_market_line(lines, std::string("expected the sizes as ") +
                                  (header->is_array ? "\"rows cols\"" : "\"rows cols entries\"") +
                                  ", found " + scan::quote(line));
  }
  return sizes;
}

/// How many an array stores: all, or those on one side of the diagonal, with it or without.
Offset entries_of_array(const MarketHeader& header) {
  if (header.symmetry == MarketSymmetry::general) return header.rows * header.cols;
  const Offset order = header.rows;
  return header.symmetry == MarketSymmetry::symmetric ? order * (order + 1) / 2
                                                      : order * std::max<Offset>(order - 1, 0) / 2;
}

void read_sizes(LineReader& lines, MarketHeader* header) {
  const std::vector<std::string> sizes = read_size_words(lines, header);
  header->rows = read_size(lines, sizes[0], "rows");
  header->cols = read_size(lines, sizes[1], "columns");
  for (const Offset size : {header->rows, header->cols}) {
    if (size > kMaxIndex) {
      refuse_market_line(lines, "expected at most 2147483647 rows and columns, found " +
                                    std::to_string(size) +
                                    "; larger matrices need to be split first");
    }
  }
  if (header->symmetry != MarketSymmetry::general && header->rows != header->cols) {
    refuse_market_line(lines, "expected as many rows as columns in a symmetric matrix, found " +
                                  std::to_string(header->rows) + " x " +
                                  std::to_string(header->cols));
  }
  header->entries =
      header->is_array ? entries_of_array(*header) : read_size(lines, sizes[2], "entries");
}

}  // namespace

MarketHeader read_market_header(LineReader& lines) {
  MarketHeader header;
  read_banner(lines, &header);
  read_sizes(lines, &header);
  return header;
}

}  // namespace csrkit

// Matrix Market (Boisvert, Pozo, Remington 1996): a banner, comments, sizes, one entry per line.
//
// Accepted beyond the letter of it: comments and blank lines anywhere, either line end, a missing
// last line end, blanks around numbers, Fortran exponents, inf and nan, "double" for real, and
// entries above the diagonal of a symmetric file (they are mirrored like those below; where both
// are stored, the two are duplicates). Real and integer values become f64 unless a kind is asked
// for, or a comment before the sizes names one as our exporter does. An array keeps every entry, zeros too: the file states them.
#include "preprocess/import/matrix_market.h"

#include <omp.h>

#include <algorithm>
#include <cctype>

#include "preprocess/import/text_parse.h"

namespace csrkit {

namespace {

constexpr std::string_view kBanner = "%%matrixmarket";

constexpr std::string_view kKindComment = "% values are ";  // then f16, bf16, f32 or f64

enum class Symmetry { general, symmetric, skew };

struct Header {
  bool is_array = false;
  bool is_pattern = false;
  bool is_integer = false;
  Symmetry symmetry = Symmetry::general;
  ValueKind value_kind = ValueKind::f64;
  Offset rows = 0, cols = 0, entries = 0;
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

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

Offset read_size(const LineReader& lines, const std::string& word, const char* what) {
  const std::string text = word + "\n";
  const char* at = text.data();
  std::uint64_t number = 0;
  if (!scan::read_digits(at, number) || *at != '\n') {
    lines.refuse(lines.line() - 1, std::string("expected the number of ") + what +
                                       " as a whole number below 10^18, found " +
                                       scan::quote(word));
  }
  return static_cast<Offset>(number);
}

Header read_header(LineReader& lines) {
  Header header;
  std::string_view line;
  if (!lines.next_line(line))
    lines.refuse(1, "expected a Matrix Market banner, found an empty file");
  const std::vector<std::string> words = words_of(lower(line));
  const auto refuse = [&](const std::string& message) { lines.refuse(lines.line() - 1, message); };
  if (words.empty() || words[0] != kBanner) {
    refuse("expected a first line that begins with %%MatrixMarket, found " + scan::quote(line));
  }
  if (words.size() != 5) {
    refuse("expected \"%%MatrixMarket matrix <format> <field> <symmetry>\", found " +
           std::to_string(words.size()) + " words");
  }
  if (words[1] != "matrix")
    refuse("expected the object \"matrix\", found " + scan::quote(words[1]));
  header.is_array = words[2] == "array";
  if (!header.is_array && words[2] != "coordinate") {
    refuse("expected the format \"coordinate\" or \"array\", found " + scan::quote(words[2]));
  }
  const std::string& field = words[3];
  header.is_pattern = field == "pattern";
  header.is_integer = field == "integer" || field == "unsigned-integer";
  if (field == "complex") {
    refuse(
        "complex values are not supported, matrices here are real; export the real part, or import "
        "the pattern of a copy whose header says pattern and whose lines hold no values");
  }
  if (!header.is_pattern && !header.is_integer && field != "real" && field != "double") {
    refuse("expected the field \"real\", \"integer\" or \"pattern\", found " + scan::quote(field));
  }
  if (words[4] == "symmetric") {
    header.symmetry = Symmetry::symmetric;
  } else if (words[4] == "skew-symmetric") {
    header.symmetry = Symmetry::skew;
  } else if (words[4] == "hermitian") {
    refuse(
        "expected a symmetry of a real matrix, found \"hermitian\", which only complex values can "
        "have; is \"symmetric\" meant?");
  } else if (words[4] != "general") {
    refuse("expected the symmetry \"general\", \"symmetric\" or \"skew-symmetric\", found " +
           scan::quote(words[4]));
  }
  if (header.is_pattern && header.is_array)
    refuse("an array cannot be a pattern; is \"coordinate\" meant?");
  if (header.is_pattern && header.symmetry == Symmetry::skew) {
    refuse("a pattern cannot be skew-symmetric, it has no signs; is \"symmetric\" meant?");
  }

  std::vector<std::string> sizes;
  while (sizes.empty()) {
    if (!lines.next_line(line)) {
      lines.refuse(lines.line(), "expected a line with the sizes, found the end of the file");
    }
    sizes = words_of(line);
    if (sizes.empty() || sizes[0][0] != '%') continue;
    sizes.clear();
    if (header.value_kind == ValueKind::f64) header.value_kind = kind_in_comment(line);
  }
  const std::size_t wanted = header.is_array ? 2 : 3;
  if (sizes.size() != wanted) {
    refuse(std::string("expected the sizes as ") +
           (header.is_array ? "\"rows cols\"" : "\"rows cols entries\"") + ", found " +
           scan::quote(line));
  }
  header.rows = read_size(lines, sizes[0], "rows");
  header.cols = read_size(lines, sizes[1], "columns");
  for (const Offset size : {header.rows, header.cols}) {
    if (size > kMaxIndex) {
      refuse("expected at most 2147483647 rows and columns, found " + std::to_string(size) +
             "; larger matrices need to be split first");
    }
  }
  if (header.symmetry != Symmetry::general && header.rows != header.cols) {
    refuse("expected as many rows as columns in a symmetric matrix, found " +
           std::to_string(header.rows) + " x " + std::to_string(header.cols));
  }
  if (!header.is_array) {
    header.entries = read_size(lines, sizes[2], "entries");
  } else if (header.symmetry == Symmetry::general) {
    header.entries = header.rows * header.cols;
  } else {
    const Offset order = header.rows;
    header.entries = header.symmetry == Symmetry::symmetric
                         ? order * (order + 1) / 2
                         : order * std::max<Offset>(order - 1, 0) / 2;
  }
  return header;
}

/// An entry takes at least "1 1\n", "1 1 1\n" or "1\n"; the last line end may be missing.
void require_plausible(const LineReader& lines, const Header& header) {
  const std::int64_t left = lines.bytes_left();
  if (left < 0) return;
  const Offset bytes_per_entry = header.is_array ? 2 : header.is_pattern ? 4 : 6;
  if (header.entries > (left + 1) / bytes_per_entry) {
    lines.refuse(
        lines.line() - 1,
        "expected " + std::to_string(header.entries) + " entries as the sizes say, found " +
            std::to_string(left) +
            " bytes behind them, too few for that; the file is cut short or its header is wrong");
  }
}

/// The places of a dense array, which goes column by column (the lower triangle if symmetric).
void place_array(const Header& header, CooMatrix& coo) {
  const auto rows = static_cast<Index>(header.rows), cols = static_cast<Index>(header.cols);
  coo.rows = rows;
  coo.cols = cols;
  coo.row_indices = Buffer<Index>(header.entries);
  coo.col_indices = Buffer<Index>(header.entries);
  const Offset order = header.rows;
  const Offset skip = header.symmetry == Symmetry::skew ? 1 : 0;
#pragma omp parallel for schedule(static)
  for (Index col = 0; col < cols; ++col) {
    Index first = 0;
    Offset at = Offset{col} * order;
    if (header.symmetry != Symmetry::general) {
      first = static_cast<Index>(col + skip);
      // Columns 0 .. col - 1 hold order - skip, order - skip - 1, ... entries.
      at = Offset{col} * (order - skip) - Offset{col} * (Offset{col} - 1) / 2;
    }
    for (Index row = first; row < rows; ++row, ++at) {
      coo.row_indices[at] = row;
      coo.col_indices[at] = col;
    }
  }
}

/// A skew-symmetric matrix has a diagonal of zeros.
void require_zero_diagonal(const CooMatrix& coo, const std::string& name) {
  const double* values = coo.values.as<double>();
  for (Offset at = 0; at < coo.nnz(); ++at) {
    if (coo.row_indices[at] == coo.col_indices[at] && !(values[at] == 0)) {
      const std::string place = std::to_string(coo.row_indices[at] + Offset{1});
      throw InputError(name +
                       ": expected no value on the diagonal of a skew-symmetric matrix, found " +
                       std::to_string(values[at]) + " at row " + place + ", column " + place +
                       "; is the matrix \"symmetric\" or \"general\"?");
    }
  }
}

struct Triangles {
  bool lower = false, upper = false;
};
Triangles triangles_of(const CooMatrix& coo) {
  bool lower = false, upper = false;
#pragma omp parallel for schedule(static) reduction(|| : lower, upper)
  for (Offset at = 0; at < coo.nnz(); ++at) {
    lower = lower || coo.row_indices[at] > coo.col_indices[at];
    upper = upper || coo.row_indices[at] < coo.col_indices[at];
  }
  return {lower, upper};
}

}  // namespace

void read_matrix_market_source(ByteSource& source, const ImportOptions& options,
                               ImportResult& result) {
  LineReader lines(source);
  const Header header = read_header(lines);
  require_plausible(lines, header);

  EntryLineOptions how;
  how.index_base = 1;
  how.row_limit = header.rows;
  how.col_limit = header.cols;
  how.has_ids = !header.is_array;
  how.is_csv_like = false;
  how.comments = "%";
  how.value_columns = header.is_pattern ? 0 : 1;
  how.values_are_integers = header.is_integer;
  how.integers_must_be_exact = options.value_kind == "auto";
  how.value_kind = wanted_kind(options, header.value_kind);
  how.expected_entries = header.entries;
  how.progress = options.progress;
  if (header.symmetry == Symmetry::skew) how.value_kind = ValueKind::f64;  // signs must be seen

  EntryLines entries = parse_entry_lines(lines, how);
  CooMatrix coo = std::move(entries.coo);
  if (header.is_array) place_array(header, coo);
  result.entries_read = entries.entries;

  if (header.symmetry == Symmetry::general) {
    finish_coo(std::move(coo), options, source.name(), result);
    return;
  }
  if (header.symmetry == Symmetry::skew) require_zero_diagonal(coo, source.name());
  const Triangles triangles = triangles_of(coo);
  if (triangles.lower && triangles.upper) {
    result.notes["triangles"] =
        "the file declares symmetry and yet has entries on both sides of the diagonal";
  }
  const Offset out_of_order = count_out_of_order(coo);
  result.entries_mirrored = append_mirrored(coo, header.symmetry == Symmetry::skew);
  finish_coo(std::move(coo), options, source.name(), result);
  // Mirrored entries always come late; what matters to a user is the order in the file.
  result.repairs.out_of_order = out_of_order;
  // Merged entries were added in different orders on both sides, so their bits may differ.
  result.is_symmetric_by_format =
      header.symmetry == Symmetry::symmetric && result.repairs.duplicates == 0;
}

bool matches_matrix_market(const Peek& peek) {
  return !peek.is_directory && lower(peek.head.substr(0, kBanner.size())) == kBanner;
}

ImportResult read_matrix_market(const std::string& path, const ImportOptions& options) {
  ImportResult result;
  result.inputs.push_back({path, 0, {}});
  const std::unique_ptr<ByteSource> source = open_file(path);
  read_matrix_market_source(*source, options, result);
  return result;
}

}  // namespace csrkit

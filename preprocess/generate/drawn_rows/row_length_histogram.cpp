#include <sstream>

#include "core/base/input_file.h"
#include "core/base/text.h"
#include "preprocess/generate/drawn_rows/row_length_model.h"

namespace csrkit {

namespace {

struct EmbeddedHistogram {
  const char* name;
  const char* text;
};

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 28;

// Made by the build from datasets/row_length_histograms, so that installed programs need no files.
const EmbeddedHistogram kEmbedded[] = {
#define CSRKIT_HISTOGRAM(name, text) {name, text},
#include "preprocess/generate/drawn_rows/row_length_histograms.inc"
#undef CSRKIT_HISTOGRAM
};

/// Lines "length count", lengths ascending; comments start with #, one line may name the columns.
RowLengthHistogram parse_histogram(std::istream& lines, const std::string& where) {
  RowLengthHistogram histogram;
  std::string line;
  Offset number = 0, rows = 0;
  bool header_seen = false;
  while (std::getline(lines, line)) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    if (!header_seen && histogram.bins.empty() && line == "row_length\tcount") {
      header_seen = true;
      continue;
    }
    const auto fail = [&](const std::string& expected) {
      throw InputError(where + ":" + std::to_string(number) + ": expected " + expected +
                       ", found '" + line +
                       "'; one line per row length: length, tab, number of rows");
    };
    std::istringstream fields(line);
    long long length = 0, count = 0;
    if (!(fields >> length >> count) || !(fields >> std::ws).eof()) fail("two whole numbers");
    if (length < 0 || length > kMaxIndex) fail("a row length from 0 to 2147483647");
    if (count < 1 || count > kMaxIndex) fail("a number of rows from 1 to 2147483647");
    if (!histogram.bins.empty() && length <= histogram.bins.back().length) {
      fail("a row length above " + std::to_string(histogram.bins.back().length));
    }
    rows += count;
    if (rows > kMaxIndex) fail("at most 2147483647 rows in all");
    histogram.bins.push_back({static_cast<Index>(length), static_cast<Index>(count)});
    histogram.nnz += Offset{length} * count;
  }
  histogram.rows = static_cast<Index>(rows);
  return histogram;
}

}  // namespace

bool is_histogram_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos ||
         (name_or_path.size() > 4 && ends_with(name_or_path, ".tsv"));
}

RowLengthHistogram row_length_histogram(const std::string& name_or_path) {
  if (is_histogram_path(name_or_path)) {
    std::istringstream lines(read_whole_file(name_or_path, kMaxFileBytes));
    RowLengthHistogram histogram = parse_histogram(lines, name_or_path);
    if (histogram.rows == 0) {
      throw InputError(name_or_path + ":1: expected lines 'length<tab>number of rows', found none");
    }
    return histogram;
  }
  std::string names;
  for (const EmbeddedHistogram& histogram : kEmbedded) {
    if (name_or_path == histogram.name) {
      std::istringstream lines(histogram.text);
      return parse_histogram(lines, histogram.name);
    }
    append_item(names, histogram.name);
  }
  throw UsageError("no row-length histogram named '" + name_or_path +
                   "'; give the path of a .tsv file or one of: " + names);
}

}  // namespace csrkit

#include "tools/info/density_options.h"

#include <charconv>

#include "tools/cli/matrix_input.h"

namespace csrkit {

namespace {

/// "a<separator>b" as two numbers; false if it is anything else.
bool parse_pair(const std::string& text, char separator, Index& first, Index& second) {
  const std::size_t at = text.find(separator);
  if (at == std::string::npos) return false;
  const auto parse = [](const char* begin, const char* end, Index& number) {
    const auto [stop, error] = std::from_chars(begin, end, number);
    return error == std::errc() && stop == end && begin != end && number >= 0;
  };
  const char* const text_begin = text.data();
  return parse(text_begin, text_begin + at, first) &&
         parse(text_begin + at + 1, text_begin + text.size(), second);
}

void parse_size(const Options& options, const char* name, Index& rows, Index& cols) {
  const std::string text = options.text(name);
  if (!parse_pair(text, 'x', rows, cols) || rows < 1 || cols < 1) {
    throw UsageError(std::string("--") + name + " is '" + text +
                     "'; it must be two numbers of 1 or more such as 256x256");
  }
}

Rectangle parse_rectangle(const std::string& text) {
  Rectangle rectangle{};
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos ||
      !parse_pair(text.substr(0, comma), ':', rectangle.row, rectangle.row_end) ||
      !parse_pair(text.substr(comma + 1), ':', rectangle.col, rectangle.col_end)) {
    throw UsageError("--rectangle is '" + text +
                     "'; it must be rows and columns such as 0:100,50:60 (ends not included)");
  }
  return rectangle;
}

}  // namespace

DensityToolOptions parse_density_options(int argc, const char* const* argv) {
  Options options("csr-density", "FILE.csr", 1, 1,
                  "Counts nonzeros on a grid of cells and sums them to a table that knows every "
                  "rectangle of cells in constant time.");
  options.value("grid", "RxC", "cells over rows and columns", "256x256")
      .repeated("rectangle", "R:R,C:C",
                "count the nonzeros in these rows and columns, ends excluded")
      .value("densest", "N", "list the cells with the most nonzeros per place")
      .value("partition", "RxC", "cut rows and columns so that the fullest part holds few nonzeros")
      .value("device", "KIND", "make the table on cpu or gpu; the numbers are the same", "cpu")
      .example("csr-density tiny.csr --rectangle 0:2,0:4 --densest 3", "counts")
      .example("csr-density graph.csr --partition 2x2 --spy graph.png", "cuts, and a picture");
  declare_spy_options(options);
  declare_io(options);
  options.parse(argc, argv);
  DensityToolOptions result;
  result.input = options.names()[0];
  result.read = read_options(options);
  result.is_gpu = options.choice("device", {"cpu", "gpu"}) == "gpu";
  parse_size(options, "grid", result.grid_rows, result.grid_cols);
  for (const std::string& text : options.texts("rectangle")) {
    result.rectangles.push_back(parse_rectangle(text));
  }
  if (options.given("densest")) {
    result.densest = static_cast<Index>(options.integer("densest", 1, kMaxIndex));
  }
  if (options.given("partition")) {
    parse_size(options, "partition", result.row_parts, result.col_parts);
  }
  result.picture = read_spy_options(options, result.input);
  result.as_json = options.json();
  return result;
}

}  // namespace csrkit

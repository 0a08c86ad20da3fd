// csr-density: how many nonzeros are in a rectangle, where the dense tiles are, where to cut.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "core/summed_area_table.h"
#include "tools/support/matrix_input.h"
#include "tools/support/measure.h"
#include "tools/support/options.h"
#include "tools/support/report.h"
#include "tools/support/run_tool.h"
#include "tools/support/spy_picture.h"
#ifdef CSRKIT_HAVE_CUDA
#include "gpu/density/summed_area_table.h"
#endif

using namespace csrkit;

namespace {

struct Rectangle {
  Index row, row_end, col, col_end;
};

struct DensityToolOptions {
  std::string input;
  CsrReadOptions read;
  Index grid_rows = 0, grid_cols = 0;
  std::vector<Rectangle> rectangles;
  Index densest = 0;
  Index row_parts = 0, col_parts = 0;
  std::string picture;
  Index pixels = 0;
  bool is_gpu = false;
  bool as_json = false;
};

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

DensityToolOptions parse_density_options(int argc, char** argv) {
  Options options("csr-density", "FILE.csr", 1, 1,
                  "Counts nonzeros on a grid of cells and sums them to a table that knows every "
                  "rectangle of cells in constant time.");
  options.value("grid", "RxC", "cells over rows and columns", "256x256")
      .repeated("rectangle", "R:R,C:C", "how many nonzeros are there? Rows, columns, ends excluded")
      .value("densest", "N", "list the cells with the most nonzeros per place")
      .value("partition", "RxC", "cut rows and columns so that the fullest rectangle is small")
      .value("device", "KIND", "where the table is made: cpu or gpu, the same numbers", "cpu")
      .value("spy", "OUT.png", "draw where the nonzeros are")
      .value("pixels", "N", "of the picture's longer side", "800")
      .example("csr-density tiny.csr --rectangle 0:2,0:4 --densest 3", "counts")
      .example("csr-density graph.csr --partition 2x2 --spy graph.png", "cuts, and a picture");
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
  result.picture = options.text("spy");
  constexpr std::int64_t kMaxPixels = 20000;
  result.pixels = static_cast<Index>(options.integer("pixels", 1, kMaxPixels));
  if (options.given("pixels") && result.picture.empty()) {
    throw UsageError("--pixels is for --spy");
  }
  require_another_file(result.picture, result.input);
  result.as_json = options.json();
  return result;
}

/// The table, and what making it took, into the report.
SummedAreaTable make_table(Report& report, const DensityToolOptions& options,
                           const CsrMatrix& matrix) {
  const Stopwatch watch;
  if (!options.is_gpu) {
    SummedAreaTable table(matrix, options.grid_rows, options.grid_cols);
    report.add_seconds("table_seconds", "table", watch.seconds());
    return table;
  }
#ifdef CSRKIT_HAVE_CUDA
  gpu::SumTimes times;
  const auto fill_sums = [&](const CsrMatrix& a, const SummedAreaTable& grid, Offset* sums) {
    times = gpu::fill_sums(a, grid, sums, 0);
  };
  SummedAreaTable table(matrix, options.grid_rows, options.grid_cols, fill_sums);
  report.add_seconds("table_seconds", "table", watch.seconds());
  report.add_seconds("upload_seconds", "upload", times.upload_seconds);
  report.add_seconds("count_seconds", "counts", times.count_seconds);
  report.add_seconds("scan_seconds", "scans", times.scan_seconds);
  report.add_seconds("download_seconds", "download", times.download_seconds);
  return table;
#else
  throw UsageError("--device gpu needs a GPU build, and this one was made without CUDA");
#endif
}

/// The cell that begins at `index`, or -1: a rectangle that begins and ends with cells is a look-up.
template <class Begin>
Index cell_at(Index index, Index cells, Begin&& begin) {
  Index low = 0, high = cells;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (begin(middle) < index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return begin(low) == index ? low : -1;
}

void count_rectangles(Report& report, const DensityToolOptions& options, const CsrMatrix& matrix,
                      const SummedAreaTable& table) {
  const auto row_begin = [&](Index g) { return table.row_begin(g); };
  const auto col_begin = [&](Index g) { return table.col_begin(g); };
  Json rows = Json::array();
  TextTable text({"rows", "columns", "nonzeros", "share of places", "from"});
  for (const Rectangle& r : options.rectangles) {
    const Index cells[4] = {cell_at(r.row, table.grid_rows(), row_begin),
                            cell_at(r.row_end, table.grid_rows(), row_begin),
                            cell_at(r.col, table.grid_cols(), col_begin),
                            cell_at(r.col_end, table.grid_cols(), col_begin)};
    const bool is_aligned =
        *std::min_element(cells, cells + 4) >= 0 && r.row <= r.row_end && r.col <= r.col_end;
    const Offset count = is_aligned ? table.count(cells[0], cells[1], cells[2], cells[3])
                                    : count_nonzeros(matrix, r.row, r.row_end, r.col, r.col_end);
    const double places = static_cast<double>(r.row_end - r.row) * (r.col_end - r.col);
    const double share = places > 0 ? static_cast<double>(count) / places : 0;
    text.add({std::to_string(r.row) + ":" + std::to_string(r.row_end),
              std::to_string(r.col) + ":" + std::to_string(r.col_end), with_commas(count),
              fixed(share, 6), is_aligned ? "table" : "search"});
    rows.push_back({{"row", r.row},
                    {"row_end", r.row_end},
                    {"col", r.col},
                    {"col_end", r.col_end},
                    {"nonzeros", count},
                    {"density", share},
                    {"from", is_aligned ? "table" : "search"}});
  }
  report.add_json("rectangles", rows);
  if (!text.is_empty()) report.add_text("\n" + text.text());
}

void list_densest(Report& report, const DensityToolOptions& options, const SummedAreaTable& table) {
  struct Cell {
    double density;
    Index row, col;
  };
  std::vector<Cell> cells;
  for (Index row = 0; row < table.grid_rows(); ++row) {
    const double height = table.row_begin(row + 1) - table.row_begin(row);
    for (Index col = 0; col < table.grid_cols(); ++col) {
      const double width = table.col_begin(col + 1) - table.col_begin(col);
      const Offset count = table.count(row, col);
      if (count > 0) cells.push_back({static_cast<double>(count) / (height * width), row, col});
    }
  }
  const std::size_t wanted = std::min(cells.size(), static_cast<std::size_t>(options.densest));
  std::partial_sort(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(wanted), cells.end(),
                    [](const Cell& a, const Cell& b) {
                      if (a.density != b.density) return a.density > b.density;
                      return a.row != b.row ? a.row < b.row : a.col < b.col;
                    });
  Json rows = Json::array();
  TextTable text({"rows", "columns", "nonzeros", "share of places"});
  for (std::size_t i = 0; i < wanted; ++i) {
    const Cell& cell = cells[i];
    const Index row = table.row_begin(cell.row), row_end = table.row_begin(cell.row + 1);
    const Index col = table.col_begin(cell.col), col_end = table.col_begin(cell.col + 1);
    const Offset count = table.count(cell.row, cell.col);
    text.add({std::to_string(row) + ":" + std::to_string(row_end),
              std::to_string(col) + ":" + std::to_string(col_end), with_commas(count),
              fixed(cell.density, 6)});
    rows.push_back({{"row", row},
                    {"row_end", row_end},
                    {"col", col},
                    {"col_end", col_end},
                    {"nonzeros", count},
                    {"density", cell.density}});
  }
  report.add_json("densest", rows);
  if (!text.is_empty()) report.add_text("\n" + text.text());
}

void cut(Report& report, const DensityToolOptions& options, const SummedAreaTable& table) {
  const RectilinearCuts cuts = balanced_cuts(table, options.row_parts, options.col_parts);
  std::vector<Index> rows, cols;
  std::string row_text, col_text;
  for (const Index g : cuts.rows) rows.push_back(table.row_begin(g));
  for (const Index g : cuts.cols) cols.push_back(table.col_begin(g));
  for (const Index row : rows) row_text += (row_text.empty() ? "" : " ") + std::to_string(row);
  for (const Index col : cols) col_text += (col_text.empty() ? "" : " ") + std::to_string(col);
  report.add("row_cuts", "row cuts", Json(rows), row_text);
  report.add("col_cuts", "column cuts", Json(cols), col_text);
  report.add("heaviest", "fullest part", cuts.heaviest);
  report.add("imbalance", "imbalance", Json(cuts.imbalance),
             fixed(cuts.imbalance, 3) + " (fullest over mean)");
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-density", [&] {
    const DensityToolOptions options = parse_density_options(argc, argv);
    const CsrMatrix matrix = read_csr_file(options.input, options.read).matrix;
    Report report;
    report.add("file", "file", options.input);
    const SummedAreaTable table = make_table(report, options, matrix);
    report.add("grid", "grid", Json{table.grid_rows(), table.grid_cols()},
               std::to_string(table.grid_rows()) + " x " + std::to_string(table.grid_cols()));
    report.add("nnz", "nnz", table.total());
    if (options.row_parts > 0) cut(report, options, table);
    if (!options.picture.empty()) {
      const SpyPicture spy = write_spy_picture(options.picture, matrix, options.pixels);
      report.add("picture", "picture",
                 Json{{"file", options.picture}, {"width", spy.width}, {"height", spy.height}},
                 options.picture + ", " + std::to_string(spy.width) + " x " +
                     std::to_string(spy.height) + " pixels");
    }
    count_rectangles(report, options, matrix, table);
    if (options.densest > 0) list_densest(report, options, table);
    print(report, options.as_json);
    return kExitDone;
  });
}

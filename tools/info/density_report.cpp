#include "tools/info/density_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/rooms.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"

namespace csrkit {

namespace {

/// The cell that begins at `index`, or -1: a rectangle that begins and ends with cells is a
/// look-up.
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

Json to_json(const Rectangle& r, Offset nnz, double share) {
  return {
      {"row", r.row},    {"row_end", r.row_end}, {"col", r.col}, {"col_end", r.col_end},
      {"nnz", nnz},      {"nonzeros", nnz},  // as it was called before; keys stay (docs/json.md)
      {"density", share}};
}

std::vector<std::string> text_of(const Rectangle& r, Offset nnz, double share) {
  return {std::to_string(r.row) + ":" + std::to_string(r.row_end),
          std::to_string(r.col) + ":" + std::to_string(r.col_end), with_commas(nnz),
          fixed(share, 6)};
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
    const char* const from = is_aligned ? "table" : "search";
    std::vector<std::string> line = text_of(r, count, share);
    line.emplace_back(from);
    text.add(std::move(line));
    rows.push_back(to_json(r, count, share));
    rows.back()["from"] = from;
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
    const Rectangle r{table.row_begin(cell.row), table.row_begin(cell.row + 1),
                      table.col_begin(cell.col), table.col_begin(cell.col + 1)};
    const Offset count = table.count(cell.row, cell.col);
    text.add(text_of(r, count, cell.density));
    rows.push_back(to_json(r, count, cell.density));
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
  for (const Index row : rows) append_item(row_text, std::to_string(row), " ");
  for (const Index col : cols) append_item(col_text, std::to_string(col), " ");
  report.add("row_cuts", "row cuts", Json(rows), row_text);
  report.add("col_cuts", "column cuts", Json(cols), col_text);
  report.add("heaviest", "fullest part", cuts.heaviest);
  report.add("imbalance", "imbalance", Json(cuts.imbalance),
             fixed(cuts.imbalance, 3) + " (fullest over mean)");
}

}  // namespace

SummedAreaTable make_table(Report& report, const DensityToolOptions& options,
                           const CsrMatrix& matrix) {
  const Stopwatch watch;
  if (!options.is_gpu) {
    SummedAreaTable table(matrix, options.grid_rows, options.grid_cols);
    report.add_seconds("table_seconds", "table", watch.seconds());
    return table;
  }
  const gpu::Face& gpu = require_gpu_room("--device gpu");
  gpu::SumTimes times;
  const auto fill_sums = [&](const CsrMatrix& a, const SummedAreaTable& grid, Offset* sums) {
    times = gpu.fill_sums(a, grid, sums, /*device=*/0, /*memory_limit_bytes=*/0);
  };
  SummedAreaTable table(matrix, options.grid_rows, options.grid_cols, fill_sums);
  report.add_seconds("table_seconds", "table", watch.seconds());
  report.add_seconds("upload_seconds", "upload", times.upload_seconds);
  report.add_seconds("count_seconds", "counts", times.count_seconds);
  report.add_seconds("scan_seconds", "scans", times.scan_seconds);
  report.add_seconds("download_seconds", "download", times.download_seconds);
  return table;
}

void report_density(Report& report, const DensityToolOptions& options, const CsrMatrix& matrix,
                    const SummedAreaTable& table) {
  report.add("grid", "grid", Json{table.grid_rows(), table.grid_cols()},
             std::to_string(table.grid_rows()) + " x " + std::to_string(table.grid_cols()));
  report.add("nnz", "nnz", table.total());
  if (options.row_parts > 0) cut(report, options, table);
  if (!options.picture.path.empty()) add_spy_picture(report, options.picture, matrix);
  count_rectangles(report, options, matrix, table);
  if (options.densest > 0) list_densest(report, options, table);
}

}  // namespace csrkit

#include "tools/info/info_report.h"

#include <nlohmann/json.hpp>

#include "api/measured_flags.h"
#include "core/base/counted.h"
#include "tools/cli/json_reader.h"
#include "tools/info/matrix_facts.h"
#include "tools/info/part_levels.h"
#include "tools/info/python_map.h"
#include "tools/info/spy_picture.h"

namespace csrkit {

namespace {

void add_header(Report& report, const InfoToolOptions& options) {
  const CsrFileHeader header = read_csr_header(options.input);
  report.add("file", "file", options.input);
  report.add("version", "version", static_cast<std::int64_t>(header.version));
  report.add("file_bytes", "size", Json(header.file_bytes),
             readable_bytes(static_cast<double>(header.file_bytes)));
  report.add("rows", "rows", static_cast<std::int64_t>(header.rows));
  report.add("cols", "cols", static_cast<std::int64_t>(header.cols));
  report.add("nnz", "nnz", header.nnz);
  report.add("value_kind", "values", name_of(header.value_kind));
  report.add("sorted", "sorted", header.flags.is_sorted);
  report.add("unique", "unique", header.flags.is_unique);
  report.add("claimed_symmetric", "claims symmetry",
             header.flags.is_value_symmetric     ? "yes"
             : header.flags.is_pattern_symmetric ? "pattern only"
                                                 : "none");
  Json sections = Json::array();
  for (const CsrSection& section : header.sections) {
    sections.push_back({{"name", section.name},
                        {"offset_bytes", section.offset_bytes},
                        {"size_bytes", section.size_bytes}});
    report.add_line("section", section.name + ", " + counted(section.size_bytes, "byte") +
                                   " from byte " + std::to_string(section.offset_bytes));
  }
  report.add_json("sections", sections);
}

void add_statistics(Report& report, const CsrFile& file) {
  const MatrixStats stats = matrix_stats(file.matrix);
  const RowLengthProfile& lengths = stats.row_lengths;
  const Json json = to_json(stats);
  for (const auto& [key, value] : json.items()) report.add_json(key, value);
  report.add_json("has_row_order", file.row_order.has_value());
  report.add_json("has_col_order", file.col_order.has_value());
  if (!file.partition) report.add_json("parts", 0);
  report.add_line("row length", "mean " + fixed(lengths.mean, 2) + ", deviation " +
                                    fixed(lengths.standard_deviation, 2));
  report.add_line("  quantiles",
                  "min " + with_commas(lengths.shortest) + ", 25 % " + with_commas(lengths.p25) +
                      ", median " + with_commas(lengths.median) + ", 75 % " +
                      with_commas(lengths.p75) + ", 90 % " + with_commas(lengths.p90) + ", 99 % " +
                      with_commas(lengths.p99) + ", max " + with_commas(lengths.longest) +
                      " (row " + std::to_string(lengths.longest_row) + ")");
  report.add_line("empty rows", with_commas(lengths.empty_rows));
  report.add_line("empty cols", with_commas(stats.empty_cols));
  report.add_line("bandwidth", with_commas(stats.locality.bandwidth));
  report.add_line("locality", "mean distance " + fixed(stats.locality.mean_distance, 4) +
                                  " of the size (random order: 0.333), " +
                                  fixed(stats.locality.entries_per_touched_tile, 2) +
                                  " nonzeros per touched 32x32 tile");
  CsrFlags found;
  found.is_pattern_symmetric = stats.symmetry.is_pattern_symmetric;
  found.is_value_symmetric = stats.symmetry.is_value_symmetric;
  report.add_line("symmetric", symmetry_text(found, stats.symmetry.is_square));
  if (stats.symmetry.is_square) {
    report.add_line("  mirrored", fixed(100 * stats.symmetry.pattern_share, 1) +
                                      " % of the off-diagonal entries");
    report.add_line("diagonal", with_commas(stats.symmetry.diagonal_entries, "entry"));
  }
  if (file.row_order)
    report.add_line("row order", "reordered since import; csr-reorder --undo restores it");
  if (file.col_order)
    report.add_line("col order", "reordered since import; csr-reorder --undo restores it");
  if (file.partition) add_partition(report, *file.partition, file.matrix);
  if (file.ranks) {
    std::vector<LevelFacts> levels;
    for (const PartLevel& level : file.ranks->levels()) levels.push_back(level_facts(level));
    add_levels(report, levels, file.matrix.nnz());
  }
  report.add_text("\n" + row_length_histogram(lengths));
}

void verify_claims(const InfoToolOptions& options, const CsrFile& file) {
  const CsrFlags found = measured_flags(file.matrix);
  const auto require = [&](bool claimed, bool is_so, const char* what) {
    if (claimed && !is_so) {
      throw InputError(options.input + ": byte 0: the header says that the " + what +
                       " is symmetric, found that it is not; import the matrix again");
    }
  };
  require(file.flags.is_pattern_symmetric, found.is_pattern_symmetric, "pattern");
  require(file.flags.is_value_symmetric, found.is_value_symmetric, "matrix");
}

void add_provenance(Report& report, const std::string& text) {
  // Another program may have made it. Indentation can make a text 64 times as long.
  constexpr std::size_t kIndentedBytes = 1 << 20;
  const std::optional<Json> provenance = try_parse_json(text);
  report.add("provenance", "", provenance.value_or(Json(text)),
             provenance && text.size() <= kIndentedBytes ? provenance->dump(2) : text);
}

}  // namespace

void report_info(Report& report, const InfoToolOptions& options) {
  if (options.mode == InfoMode::python) {
    read_csr_file(options.input, options.read);  // a map of a broken file would mislead
    report.add("python", "", numpy_lines(options.input, read_csr_header(options.input)));
    return;
  }
  if (options.mode == InfoMode::header) return add_header(report, options);
  const CsrFile file = read_csr_file(options.input, options.read);
  switch (options.mode) {
    case InfoMode::provenance: return add_provenance(report, file.provenance);
    case InfoMode::verify:
      verify_claims(options, file);
      return report.add("verified", "", Json(true), options.input + ": every check passed");
    case InfoMode::locality:
      add_shape(report, file.matrix);
      return add_locality(report, locality_facts(file.matrix, options.locality), options.locality);
    case InfoMode::spy:
      add_shape(report, file.matrix);
      return add_spy_picture(report, options.picture, file.matrix);
    default: add_header(report, options); return add_statistics(report, file);
  }
}

}  // namespace csrkit

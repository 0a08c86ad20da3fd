// csr-info: what is in a .csr file.
#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "tools/support/locality_report.h"
#include "tools/support/log.h"
#include "tools/support/matrix_facts.h"
#include "tools/support/matrix_input.h"
#include "tools/support/options.h"
#include "tools/support/python_map.h"
#include "tools/support/run_tool.h"
#include "tools/support/spy_picture.h"

using namespace csrkit;

namespace {

enum class InfoMode { statistics, locality, header, verify, provenance, python, spy };

struct InfoToolOptions {
  std::string input;
  InfoMode mode = InfoMode::statistics;
  LocalityRequest locality;
  std::string picture;  // --spy
  Index pixels = 0;
  CsrReadOptions read;
  bool as_json = false;
};

InfoToolOptions parse_info_options(int argc, char** argv) {
  Options options("csr-info", "FILE.csr", 1, 1,
                  "Says what is in a .csr file: its header and the statistics of its matrix.");
  options.flag("header-only", "read nothing but the header")
      .flag("verify",
            "read and check everything, the claims of symmetry included; exit code 3 if wrong")
      .flag("locality",
            "how near the entries lie to each other, and what that does to the reads of B in A * B")
      .flag("provenance", "print where the file comes from (JSON)")
      .flag("python", "print the NumPy lines that map the arrays")
      .value("spy", "OUT.png", "draw where the nonzeros are, the darker the denser")
      .value("pixels", "N", "of the picture's longer side", "800")
      .example("csr-info tiny.csr", "header, row lengths, symmetry, locality")
      .example("csr-info tiny.csr --locality -k 32,256", "which reads of B hit which cache?")
      .example("csr-info tiny.csr --verify", "is every byte as it was written?")
      .example("csr-info tiny.csr --python", "how to map the arrays in NumPy")
      .example("csr-info tiny.csr --spy tiny.png --pixels 100", "a picture of the pattern");
  declare_locality_options(options);
  declare_io(options);
  options.parse(argc, argv);
  InfoToolOptions result;
  result.input = options.names()[0];
  const std::pair<const char*, InfoMode> modes[] = {
      {"locality", InfoMode::locality}, {"header-only", InfoMode::header},
      {"verify", InfoMode::verify},     {"provenance", InfoMode::provenance},
      {"python", InfoMode::python},     {"spy", InfoMode::spy}};
  for (const auto& [name, mode] : modes) {
    if (!options.flag(name)) continue;
    if (result.mode != InfoMode::statistics) {
      throw UsageError(
          "--locality, --header-only, --verify, --provenance, --python and --spy exclude each "
          "other");
    }
    result.mode = mode;
  }
  for (const char* option : {"machine", "dense-cols"}) {
    if (options.given(option) && result.mode != InfoMode::locality) {
      throw UsageError("--" + std::string(option) + " is for --locality");
    }
  }
  result.locality = read_locality_options(options);
  constexpr std::int64_t kMaxPixels = 20000;
  result.picture = options.text("spy");
  result.pixels = static_cast<Index>(options.integer("pixels", 1, kMaxPixels));
  if (options.given("pixels") && result.picture.empty()) {
    throw UsageError("--pixels is for --spy");
  }
  require_another_file(result.picture, result.input);
  result.read = read_options(options);
  result.as_json = options.json();
  return result;
}

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
    report.add_line("section", section.name + ", " + std::to_string(section.size_bytes) +
                                   " bytes from byte " + std::to_string(section.offset_bytes));
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
    report.add_line("diagonal", with_commas(stats.symmetry.diagonal_entries) + " entries");
  }
  if (file.row_order)
    report.add_line("row order", "reordered since import; csr-reorder --undo restores it");
  if (file.col_order)
    report.add_line("col order", "reordered since import; csr-reorder --undo restores it");
  if (file.partition) add_partition(report, *file.partition, file.matrix);
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

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-info", [&] {
    const InfoToolOptions options = parse_info_options(argc, argv);
    Report report;
    if (options.mode == InfoMode::python) {
      report.add("python", "", numpy_lines(options.input, read_csr_header(options.input)));
    } else if (options.mode == InfoMode::header) {
      add_header(report, options);
    } else {
      const CsrFile file = read_csr_file(options.input, options.read);
      if (options.mode == InfoMode::provenance) {
        const Json provenance = Json::parse(file.provenance, nullptr, false);
        report.add("provenance", "", provenance.is_discarded() ? Json(file.provenance) : provenance,
                   provenance.is_discarded() ? file.provenance : provenance.dump(2));
      } else if (options.mode == InfoMode::verify) {
        verify_claims(options, file);
        report.add("verified", "", Json(true), options.input + ": every check passed");
      } else if (options.mode == InfoMode::locality) {
        add_shape(report, file.matrix);
        add_locality(report, locality_facts(file.matrix, options.locality), options.locality);
      } else if (options.mode == InfoMode::spy) {
        add_shape(report, file.matrix);
        const SpyPicture spy = write_spy_picture(options.picture, file.matrix, options.pixels);
        report.add("picture", "picture",
                   Json{{"file", options.picture}, {"width", spy.width}, {"height", spy.height}},
                   options.picture + ", " + std::to_string(spy.width) + " x " +
                       std::to_string(spy.height) + " pixels");
      } else {
        add_header(report, options);
        add_statistics(report, file);
      }
    }
    print(report, options.as_json);
    return kExitDone;
  });
}

// csr-import: a file or folder of another program becomes a .csr file.
#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "preprocess/import/import.h"
#include "preprocess/transform/transform.h"
#include "tools/support/log.h"
#include "tools/support/matrix_facts.h"
#include "tools/support/measure.h"
#include "tools/support/options.h"
#include "tools/support/progress.h"
#include "tools/support/provenance.h"
#include "tools/support/run_tool.h"

using namespace csrkit;

namespace {

struct ImportToolOptions {
  std::string input, output;
  ImportOptions import;
  bool transpose = false;
  bool symmetrize = false;
  std::string self_loops;  // "", add, drop
  std::string values = "keep";
  bool gcn_normalize = false;
  std::uint64_t seed = 1;
  bool as_json = false;
  std::vector<std::string> command_line;

  bool keeps_declared_symmetry() const { return values == "keep" && !gcn_normalize; }
};

struct Times {
  double transform_seconds = 0, symmetry_seconds = 0, write_seconds = 0;
};

std::string list_formats(bool as_json) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const ImportFormat& format : import_formats())
    rows.emplace_back(format.name, format.summary);
  return list_rows("format", rows, as_json);
}

ImportToolOptions parse_import_options(int argc, char** argv) {
  Options options("csr-import", "INPUT OUTPUT.csr", 2, 2,
                  "Turns a matrix or graph of another program into a .csr file. The format is "
                  "recognised by content. Unsorted and duplicate entries are repaired and counted. "
                  "Changes are made in the order in which they stand here.");
  options.value("format", "NAME", "instead of recognising it; --list shows the names", "auto")
      .value("duplicates", "HOW", "several entries at one place: sum, first or error", "sum")
      .value("value-kind", "KIND",
             "auto (without loss), none (pattern only), f32, f64, f16 or bf16", "auto")
      .value("index-base", "0|1", "edge lists: number of the first node")
      .value("rows", "N", "edge lists and dumps: rows, if the file does not say")
      .value("cols", "N", "edge lists and dumps: cols, if the file does not say")
      .optional_value("add-inverse", "true|false",
                      "OGB folders: add every edge reversed (default: as the data set prescribes)",
                      "true")
      .flag("transpose", "A becomes its transpose")
      .flag("symmetrize", "entries that are stored on one side only appear on both")
      .value("self-loops", "add|drop", "add missing diagonal entries (value 1), or drop all")
      .value("values", "HOW", "keep, ones or random (by --seed)", "keep")
      .value("seed", "N", "of random values", "1")
      .flag("gcn-normalize", "D^-1/2 A D^-1/2, D the row sums of absolute values")
      .example("csr-import tiny.mtx tiny.csr", "any supported format, recognised by its content")
      .example(
          "csr-import tiny.mtx gcn.csr --symmetrize --self-loops=add --values=ones --gcn-normalize",
          "the adjacency matrix of a graph neural network")
      .example("csr-import edges.txt edges.csr --format=edge-list --index-base=1",
               "pairs of node numbers that start at 1")
      .on_list(list_formats);
  options.parse(argc, argv);

  ImportToolOptions result;
  result.input = options.names()[0];
  result.output = options.names()[1];
  require_another_file(result.output, result.input);
  result.import.format = options.text("format");
  result.import.duplicates = options.parsed("duplicates", parse_duplicates);
  result.import.value_kind =
      options.choice("value-kind", {"auto", "none", "f32", "f64", "f16", "bf16"});
  if (options.given("index-base")) {
    result.import.index_base = static_cast<int>(options.integer("index-base", 0, 1));
  }
  if (options.given("rows"))
    result.import.rows = static_cast<Index>(options.integer("rows", 1, kMaxIndex));
  if (options.given("cols"))
    result.import.cols = static_cast<Index>(options.integer("cols", 1, kMaxIndex));
  if (options.given("add-inverse")) {
    result.import.add_inverse = options.choice("add-inverse", {"true", "false"}) == "true";
  }
  result.import.progress = terminal_progress();
  result.transpose = options.flag("transpose");
  result.symmetrize = options.flag("symmetrize");
  if (options.given("self-loops"))
    result.self_loops = options.choice("self-loops", {"add", "drop"});
  result.values = options.choice("values", {"keep", "ones", "random"});
  result.seed = options.seed("seed");
  result.gcn_normalize = options.flag("gcn-normalize");
  result.as_json = options.json();
  result.command_line = options.command_line();
  if (result.import.value_kind == "none" && (result.gcn_normalize || result.values == "random")) {
    throw UsageError(
        "--value-kind none stores no values, but --gcn-normalize and --values=random "
        "make some; leave one of them out");
  }
  return result;
}

CsrMatrix transformed(CsrMatrix matrix, const ImportToolOptions& options) {
  if (options.transpose) matrix = transpose(matrix);
  if (options.symmetrize) matrix = symmetrize(matrix);
  if (options.self_loops == "add") matrix = add_self_loops(matrix);
  if (options.self_loops == "drop") matrix = drop_self_loops(matrix);
  if (options.values == "ones") matrix = set_ones(matrix);
  if (options.values == "random") matrix = randomize_values(matrix, options.seed);
  if (options.gcn_normalize) matrix = gcn_normalize(matrix);
  return matrix;
}

/// Symmetry that the format declares and no change touched is known; the rest is looked up.
CsrFlags flags_of(const CsrMatrix& matrix, const ImportResult& imported,
                  const ImportToolOptions& options) {
  if (!imported.is_symmetric_by_format || !options.keeps_declared_symmetry()) {
    return measured_flags(matrix);
  }
  CsrFlags flags;
  flags.is_pattern_symmetric = flags.is_value_symmetric = true;
  return flags;
}

std::vector<FileDigest> digests_of(const ImportResult& imported) {
  std::vector<FileDigest> digests;
  for (const ImportInput& input : imported.inputs) {
    digests.push_back({input.path, input.size_bytes, input.xxh3_128});
  }
  return digests;
}

Json repairs_json(const ImportResult& imported) {
  Json json{{"format", imported.format},
            {"entries_read", imported.entries_read},
            {"entries_mirrored", imported.entries_mirrored},
            {"duplicates", imported.repairs.duplicates},
            {"out_of_order", imported.repairs.out_of_order}};
  for (const auto& [name, note] : imported.notes) json["notes"][name] = note;
  return json;
}

std::string per_second(double bytes, double seconds) {
  return seconds > 0 && bytes > 0 ? "  (" + fixed(bytes / 1e6 / seconds, 0) + " MB/s)" : "";
}

void report_import(const ImportToolOptions& options, const ImportResult& imported,
                   const CsrFile& file, const Times& times) {
  double input_bytes = 0;
  for (const ImportInput& input : imported.inputs)
    input_bytes += static_cast<double>(input.size_bytes);
  const double output_bytes = static_cast<double>(read_csr_header(options.output).file_bytes);
  Report report;
  report.add("output", "output", options.output);
  report.add("format", "format", imported.format);
  add_shape(report, file.matrix);
  report.add("symmetric", "symmetric",
             symmetry_text(file.flags, file.matrix.rows() == file.matrix.cols()));
  report.add("entries_read", "entries read", imported.entries_read);
  report.add("entries_mirrored", "mirrored", imported.entries_mirrored);
  report.add("duplicates", "duplicates", imported.repairs.duplicates);
  report.add("out_of_order", "out of order", imported.repairs.out_of_order);
  for (const auto& [name, note] : imported.notes) report.add_line(name, note);
  report.add_json("notes", Json(imported.notes));
  report.add_json("input_bytes", input_bytes);
  report.add_json("output_bytes", output_bytes);
  const auto phase = [&](const char* key, const char* label, double seconds, double bytes) {
    report.add(key, label, Json(seconds), readable_seconds(seconds) + per_second(bytes, seconds));
  };
  phase("read_seconds", "read", imported.read_seconds, input_bytes);
  phase("sort_seconds", "sort", imported.sort_seconds, 0);
  phase("transform_seconds", "transform", times.transform_seconds, 0);
  phase("symmetry_seconds", "symmetry", times.symmetry_seconds, 0);
  phase("write_seconds", "write", times.write_seconds, output_bytes);
  print(report, options.as_json);
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-import", [&] {
    const ImportToolOptions options = parse_import_options(argc, argv);
    ImportResult imported = import_matrix(options.input, options.import);
    Times times;
    const Stopwatch transform_watch;
    CsrFile file;
    file.matrix = transformed(std::move(imported.matrix), options);
    times.transform_seconds = transform_watch.seconds();
    const Stopwatch symmetry_watch;
    file.flags = flags_of(file.matrix, imported, options);
    times.symmetry_seconds = symmetry_watch.seconds();
    const Json details = repairs_json(imported);
    file.provenance = append_step("", {options.command_line, digests_of(imported), &details});
    const Stopwatch write_watch;
    write_csr_file(options.output, file, terminal_progress());
    times.write_seconds = write_watch.seconds();
    report_import(options, imported, file, times);
    return kExitDone;
  });
}

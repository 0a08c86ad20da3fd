#include "tools/convert/generate_run.h"

#include <nlohmann/json.hpp>

#include "api/measured_flags.h"
#include "core/base/ending.h"
#include "core/base/stopwatch.h"
#include "preprocess/generate/drawn_rows/row_length_model.h"
#include "tools/cli/list.h"
#include "tools/cli/log.h"
#include "tools/cli/options.h"
#include "tools/cli/outputs.h"
#include "tools/cli/provenance.h"
#include "tools/info/matrix_facts.h"

namespace csrkit {

namespace {

std::vector<ListRow> pattern_rows() {
  std::vector<ListRow> rows;
  for (const GeneratePattern& pattern : generate_patterns()) {
    rows.push_back({pattern.name, pattern.summary, pattern.parameters});
  }
  return rows;
}

std::string patterns_json() {
  Json datasets = Json::array();
  for (const LikeDataset& dataset : like_datasets()) {
    datasets.push_back({{"name", dataset.name},
                        {"rows", dataset.rows},
                        {"cols", dataset.cols},
                        {"nnz", dataset.nnz},
                        {"row_lengths", dataset.row_lengths},
                        {"summary", dataset.summary}});
  }
  return Json{{"schema", kReportSchema},
              {"patterns", list_json(pattern_rows())},
              {"datasets", datasets}}
             .dump() +
         "\n";
}

std::string patterns_text() {
  TextTable table({"name", "rows", "cols", "nnz", "row lengths", "what it is"});
  for (const LikeDataset& dataset : like_datasets()) {
    table.add({dataset.name, with_commas(dataset.rows), with_commas(dataset.cols),
               with_commas(dataset.nnz), dataset.row_lengths, dataset.summary});
  }
  return list_text("pattern", pattern_rows(), "--set name=value") +
         "\nstand-ins (--like name):\n\n" + table.text();
}

/// The files that a pattern reads. A built-in histogram is none.
std::vector<std::string> files_read(const ParameterValues& parameters) {
  std::vector<std::string> files;
  const auto graph = parameters.find("graph"), histogram = parameters.find("histogram");
  if (graph != parameters.end()) files.push_back(graph->second);
  if (histogram != parameters.end() && is_histogram_path(histogram->second)) {
    files.push_back(histogram->second);
  }
  return files;
}

}  // namespace

GenerateToolOptions parse_generate_options(int argc, const char* const* argv) {
  Options options(
      "csr-generate", "PATTERN OUTPUT.csr, or --like NAME OUTPUT.csr", 1, 2,
      "Makes a synthetic matrix: the same bits for the same seed and parameters, on any "
      "number of threads.");
  options.repeated("set", "NAME=VALUE", "a parameter of the pattern; --list shows them")
      .value("like", "NAME", "a stand-in of a published data set; --list shows them")
      .value("seed", "N", "of the random numbers", "1")
      .value("value-kind", "KIND", "none, f32, f64, f16 or bf16", "f32")
      .example("csr-generate rmat graph.csr --set scale=10 --seed 7",
               "a power-law graph of 1,024 nodes")
      .example("csr-generate poisson grid.csr --set nx=20 --set ny=20", "the 5-point stencil")
      .example("csr-generate --like com_amazon small.csr --set scale=0.01",
               "a stand-in of a published graph, at a hundredth of its size")
      .writes_files()
      .on_list([](bool as_json) { return as_json ? patterns_json() : patterns_text(); });
  options.parse(argc, argv);

  GenerateToolOptions result;
  const std::size_t expected = options.given("like") ? 1 : 2;
  if (options.names().size() != expected) {
    throw UsageError(expected == 1 ? "--like takes the place of PATTERN; expected OUTPUT.csr alone"
                                   : "expected PATTERN and OUTPUT.csr (or --like NAME OUTPUT.csr)");
  }
  result.output = options.names().back();
  result.generate.pattern = options.given("like") ? "like" : options.names()[0];
  for (const std::string& setting : options.texts("set")) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError("--set is '" + setting + "'; it must be NAME=VALUE");
    }
    const std::string name = setting.substr(0, equals);
    if (!result.generate.parameters.emplace(name, setting.substr(equals + 1)).second) {
      throw UsageError("--set gives '" + name + "' more than once");
    }
  }
  if (options.given("like")) {
    if (!result.generate.parameters.emplace("name", options.text("like")).second) {
      throw UsageError("--like and --set name=... both name a data set; give one");
    }
  }
  require_outputs(options, {result.output}, files_read(result.generate.parameters));
  require_ending(result.output, {".csr"});
  result.generate.seed = options.seed();
  result.generate.seed_is_given = options.given("seed");
  result.generate.value_kind = options.parsed("value-kind", parse_value_kind);
  result.generate.progress = terminal_progress();
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

GenerateRun generate_file(const GenerateToolOptions& options) {
  GenerateRun run;
  const Stopwatch watch;
  run.file.matrix = generate_matrix(options.generate);
  run.generate_seconds = watch.seconds();
  run.file.flags = measured_flags(run.file.matrix);
  const Json details{{"pattern", options.generate.pattern},
                     {"parameters", options.generate.parameters},
                     {"seed", options.generate.seed}};
  std::vector<FileDigest> inputs;
  for (const std::string& file : files_read(options.generate.parameters)) {
    inputs.push_back(digest_file(file));
  }
  run.file.provenance = append_step("", {options.command_line, inputs, &details});
  return run;
}

void write_generated(const GenerateToolOptions& options, GenerateRun* run) {
  const Stopwatch watch;
  write_csr_file(options.output, run->file, terminal_progress());
  run->write_seconds = watch.seconds();
}

void report_generate(const GenerateToolOptions& options, const GenerateRun& run) {
  const CsrMatrix& matrix = run.file.matrix;
  Report report;
  report.add("output", "output", options.output);
  add_shape(report, matrix);
  report.add("symmetric", "symmetric",
             symmetry_text(run.file.flags, matrix.rows() == matrix.cols()));
  report.add_seconds("generate_seconds", "generate", run.generate_seconds);
  report.add_seconds("write_seconds", "write", run.write_seconds);
  print(report, options.as_json);
}

}  // namespace csrkit

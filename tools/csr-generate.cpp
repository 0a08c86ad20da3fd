// csr-generate: a synthetic matrix, seeded, the same bits for any thread count.
#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "preprocess/generate/generate.h"
#include "tools/support/matrix_facts.h"
#include "tools/support/measure.h"
#include "tools/support/options.h"
#include "tools/support/progress.h"
#include "tools/support/provenance.h"
#include "tools/support/run_tool.h"

using namespace csrkit;

namespace {

struct GenerateToolOptions {
  std::string output;
  GenerateOptions generate;
  bool as_json = false;
  std::vector<std::string> command_line;
};

std::string list_json() {
  Json patterns = Json::array();
  for (const GeneratePattern& pattern : generate_patterns()) {
    Json parameters = Json::array();
    for (const GenerateParameter& parameter : pattern.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"default", parameter.default_value},
                            {"summary", parameter.summary}});
    }
    patterns.push_back(
        {{"name", pattern.name}, {"summary", pattern.summary}, {"parameters", parameters}});
  }
  Json datasets = Json::array();
  for (const LikeDataset& dataset : like_datasets()) {
    datasets.push_back({{"name", dataset.name},
                        {"rows", dataset.rows},
                        {"cols", dataset.cols},
                        {"nnz", dataset.nnz},
                        {"row_lengths", dataset.row_lengths},
                        {"summary", dataset.summary}});
  }
  return Json{{"patterns", patterns}, {"datasets", datasets}}.dump() + "\n";
}

std::string list_text() {
  std::string text = "patterns and their parameters (--set name=value):\n";
  for (const GeneratePattern& pattern : generate_patterns()) {
    text += "\n" + std::string(pattern.name) + ": " + pattern.summary + "\n";
    for (const GenerateParameter& parameter : pattern.parameters) {
      const std::string preset = parameter.default_value;
      text += "  " + std::string(parameter.name) + " (" +
              (preset.empty() ? "must be given" : "default " + preset) + "): " + parameter.summary +
              "\n";
    }
  }
  TextTable table({"name", "rows", "cols", "nnz", "row lengths", "what it is"});
  for (const LikeDataset& dataset : like_datasets()) {
    table.add({dataset.name, with_commas(dataset.rows), with_commas(dataset.cols),
               with_commas(dataset.nnz), dataset.row_lengths, dataset.summary});
  }
  return text + "\nstand-ins (--like name):\n\n" + table.text();
}

GenerateToolOptions parse_generate_options(int argc, char** argv) {
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
      .on_list([](bool as_json) { return as_json ? list_json() : list_text(); });
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
  result.generate.seed = options.seed("seed");
  result.generate.value_kind = options.parsed("value-kind", parse_value_kind);
  result.generate.progress = terminal_progress();
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-generate", [&] {
    const GenerateToolOptions options = parse_generate_options(argc, argv);
    const Stopwatch generate_watch;
    CsrFile file;
    file.matrix = generate_matrix(options.generate);
    const double generate_seconds = generate_watch.seconds();
    file.flags = measured_flags(file.matrix);
    const Json details{{"pattern", options.generate.pattern},
                       {"parameters", options.generate.parameters},
                       {"seed", options.generate.seed}};
    file.provenance = append_step("", {options.command_line, {}, &details});
    const Stopwatch write_watch;
    write_csr_file(options.output, file, terminal_progress());
    Report report;
    report.add("output", "output", options.output);
    add_shape(report, file.matrix);
    report.add("symmetric", "symmetric",
               symmetry_text(file.flags, file.matrix.rows() == file.matrix.cols()));
    report.add_seconds("generate_seconds", "generate", generate_seconds);
    report.add_seconds("write_seconds", "write", write_watch.seconds());
    print(report, options.as_json);
    return kExitDone;
  });
}

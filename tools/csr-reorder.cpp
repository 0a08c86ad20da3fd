// csr-reorder: rows, columns or both in another order, which the file remembers and can undo.
#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "preprocess/reorder/reorder.h"
#include "tools/support/log.h"
#include "tools/support/matrix_facts.h"
#include "tools/support/matrix_input.h"
#include "tools/support/measure.h"
#include "tools/support/options.h"
#include "tools/support/progress.h"
#include "tools/support/provenance.h"
#include "tools/support/reordering.h"
#include "tools/support/run_tool.h"

using namespace csrkit;

namespace {

struct ReorderToolOptions {
  std::string input, output, method, sides;
  bool is_undo = false;
  ReorderOptions reorder;
  CsrReadOptions read;
  bool as_json = false;
  std::vector<std::string> command_line;
};

std::string list_methods(bool as_json) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const ReorderMethod& method : reorder_methods()) {
    rows.emplace_back(method.name,
                      std::string(method.summary) + (method.needs_square ? "; square only" : "") +
                          (method.is_available ? "" : "; NOT AVAILABLE: built without METIS"));
  }
  return list_rows("method", rows, as_json);
}

ReorderToolOptions parse_reorder_options(int argc, char** argv) {
  Options options(
      "csr-reorder", "INPUT.csr OUTPUT.csr", 2, 2,
      "Puts rows, columns or both into another order. The order since import travels in "
      "the file, so --undo needs no other file.");
  options.value("method", "NAME", "the ordering; --list shows them")
      .value(
          "sides", "rows|cols|both",
          "what moves (default: both for a square matrix, so that a graph keeps its meaning, rows "
          "otherwise)")
      .flag("descending", "degree: longest rows first")
      .value("parts", "N", "metis-partition: number of parts (default: by cache size)")
      .value("seed", "N", "of random choices", "1")
      .flag("undo", "instead of --method: restore the order at import")
      .example("csr-reorder tiny.csr rcm.csr --method rcm",
               "reverse Cuthill-McKee, small bandwidth")
      .example("csr-reorder tiny.csr sorted.csr --method degree --descending --sides=rows",
               "longest rows first, columns stay")
      .example("csr-reorder rcm.csr back.csr --undo", "back to the order at import")
      .on_list(list_methods);
  declare_io(options);
  options.parse(argc, argv);

  ReorderToolOptions result;
  result.input = options.names()[0];
  result.output = options.names()[1];
  result.read = read_options(options);
  result.is_undo = options.flag("undo");
  result.method = options.text("method");
  if (result.is_undo == options.given("method")) {
    throw UsageError("expected either --method NAME or --undo; --list shows the methods");
  }
  if (options.given("sides")) result.sides = options.choice("sides", {"rows", "cols", "both"});
  if (result.is_undo && !result.sides.empty()) {
    throw UsageError("--undo restores whatever was moved; leave out --sides");
  }
  if (options.given("descending") && result.method != "degree") {
    throw UsageError("--descending is for --method degree");
  }
  if (options.given("parts") && result.method != "metis-partition") {
    throw UsageError("--parts is for --method metis-partition");
  }
  result.reorder.descending = options.flag("descending");
  if (options.given("parts")) {
    result.reorder.parts = static_cast<Index>(options.integer("parts", 1, kMaxIndex));
  }
  result.reorder.seed = options.seed("seed");
  result.reorder.progress = terminal_progress();
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

void report_reorder(const ReorderToolOptions& options, const CsrFile& before, const CsrFile& after,
                    double order_seconds) {
  const LocalityProfile old_profile = locality_profile(before.matrix);
  const LocalityProfile new_profile = locality_profile(after.matrix);
  Report report;
  report.add("output", "output", options.output);
  report.add("method", "method", options.is_undo ? "undo" : options.method);
  add_shape(report, after.matrix);
  if (after.partition)
    report.add("parts", "parts", static_cast<std::int64_t>(after.partition->parts));
  const auto change = [&](const char* key, const char* label, const Json& from, const Json& to,
                          const std::string& from_text, const std::string& to_text) {
    report.add(key, label, Json{{"before", from}, {"after", to}}, from_text + " -> " + to_text);
  };
  change("bandwidth", "bandwidth", old_profile.bandwidth, new_profile.bandwidth,
         with_commas(old_profile.bandwidth), with_commas(new_profile.bandwidth));
  change("mean_distance", "mean distance", old_profile.mean_distance, new_profile.mean_distance,
         fixed(old_profile.mean_distance, 4), fixed(new_profile.mean_distance, 4));
  change("entries_per_touched_tile", "nonzeros per touched 32x32 tile",
         old_profile.entries_per_touched_tile, new_profile.entries_per_touched_tile,
         fixed(old_profile.entries_per_touched_tile, 2),
         fixed(new_profile.entries_per_touched_tile, 2));
  report.add_seconds("order_seconds", "ordering", order_seconds);
  print(report, options.as_json);
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-reorder", [&] {
    const ReorderToolOptions options = parse_reorder_options(argc, argv);
    const CsrFile before = read_csr_file(options.input, options.read);
    const Stopwatch watch;
    CsrFile after = options.is_undo
                        ? restored(before)
                        : reordered(before, options.method, sides_of(options.sides, before.matrix),
                                    options.reorder);
    const double order_seconds = watch.seconds();
    after.provenance = append_step(before.provenance,
                                   {options.command_line, {digest_file(options.input)}, nullptr});
    write_csr_file(options.output, after, terminal_progress());
    report_reorder(options, before, after, order_seconds);
    return kExitDone;
  });
}

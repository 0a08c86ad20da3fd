// csr-reorder: rows, columns or both in another order, which the file remembers and can undo.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "core/npy_file.h"
#include "preprocess/reorder/reorder.h"
#include "tools/support/advise.h"
#include "tools/support/locality_report.h"
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
  std::string input, output, sides, operand;
  std::vector<std::string> methods;
  bool is_undo = false;
  ReorderOptions reorder;
  bool is_reported = false;  // in full
  bool is_advice = false;
  Offset sample_entries = 0;
  double multiplications = 0;
  LocalityRequest locality;
  CsrReadOptions read;
  bool as_json = false;
  std::vector<std::string> command_line;

  std::string method_text() const {
    std::string text = is_undo ? "undo" : "";
    for (const std::string& method : methods) text += (text.empty() ? "" : ", then ") + method;
    return text;
  }
};

std::string list_methods(bool as_json) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const ReorderMethod& method : reorder_methods()) {
    rows.emplace_back(method.name,
                      std::string(method.summary) + (method.needs_square() ? "; square only" : "") +
                          (method.is_available ? "" : "; NOT AVAILABLE: built without METIS"));
  }
  return list_rows("method", rows, as_json);
}

bool is_metis_method(const std::string& name) { return name.rfind("metis-", 0) == 0; }

void read_method_options(const Options& options, ReorderToolOptions* result) {
  const auto only_for = [&](const std::string& option, const char* method) {
    if (!options.given(option)) return false;
    const auto& all = result->methods;
    if (std::find(all.begin(), all.end(), method) != all.end()) return true;
    throw UsageError("--" + option + " is for --method " + method);
  };
  ReorderOptions& reorder = result->reorder;
  reorder.descending = only_for("descending", "degree");
  reorder.binned = only_for("binned", "degree");
  if (only_for("parts", "metis-partition")) {
    reorder.parts = static_cast<Index>(options.integer("parts", 1, kMaxIndex));
  }
  if (only_for("inside", "metis-partition")) {
    const std::string inside = options.choice("inside", {"keep", "degree", "rcm"});
    reorder.inside = inside == "degree" ? InsideParts::degree
                     : inside == "rcm"  ? InsideParts::rcm
                                        : InsideParts::keep;
  }
  if (only_for("cache-size", "metis-partition")) reorder.cache_bytes = options.bytes("cache-size");
  if (options.given("dense-cols") && !options.flag("report") && !options.flag("advise")) {
    only_for("dense-cols", "metis-partition");  // else nobody asks for it
  }
  if (options.given("dense-cols")) {
    reorder.dense_cols = static_cast<Index>(options.integers("dense-cols", 1, kMaxIndex).front());
  }
  if (options.given("parts") && options.given("cache-size")) {
    throw UsageError("--cache-size chooses the number of parts; --parts gives it");
  }
  if (options.given("time-limit")) {
    const auto& all = result->methods;
    if (!options.flag("advise") && std::none_of(all.begin(), all.end(), is_metis_method)) {
      throw UsageError("--time-limit is for methods that call METIS, and for --advise");
    }
    reorder.time_limit_seconds = options.number("time-limit");
    if (reorder.time_limit_seconds <= 0) {
      throw UsageError("--time-limit needs a number of seconds above 0");
    }
  }
  if (options.given("memory-limit")) reorder.memory_limit_bytes = options.bytes("memory-limit");
  reorder.seed = options.seed("seed");
  reorder.progress = terminal_progress();
}

void read_advise_options(const Options& options, ReorderToolOptions* result) {
  for (const char* option : {"method", "then", "sides", "descending", "binned", "parts", "undo",
                             "apply-to", "report", "measure"}) {
    if (options.given(option)) {
      throw UsageError("--advise looks at every method; leave out --" + std::string(option));
    }
  }
  if (!options.given("machine")) {
    throw UsageError("--advise needs --machine FILE.json; csr-probe --output FILE.json makes one");
  }
  result->locality = read_locality_options(options);
  result->sample_entries = options.integer("sample", 1000, Offset{1} << 40);
  if (options.given("multiplications")) {
    result->multiplications =
        static_cast<double>(options.integer("multiplications", 1, Offset{1} << 53));
  }
  read_method_options(options, result);
  result->as_json = options.json();
}

void read_report_options(const Options& options, ReorderToolOptions* result) {
  result->is_reported = options.flag("report");
  for (const char* option : {"measure", "machine"}) {
    if (options.given(option) && !result->is_reported) {
      throw UsageError("--" + std::string(option) + " is for --report");
    }
  }
  for (const char* option : {"multiplications", "sample"}) {
    if (options.given(option)) throw UsageError("--" + std::string(option) + " is for --advise");
  }
  if (result->is_reported && !result->operand.empty()) {
    throw UsageError("--report is about an order of the matrix; --apply-to makes none");
  }
  result->locality = read_locality_options(options);
  result->locality.is_measured = options.flag("measure");
}

ReorderToolOptions parse_reorder_options(int argc, char** argv) {
  Options options(
      "csr-reorder", "INPUT.csr [OUTPUT]", 1, 2,
      "Puts rows, columns or both into another order. The order since import travels in "
      "the file, so --undo needs no other file, and --apply-to moves dense operands along.");
  options.value("method", "NAME", "the ordering; --list shows them")
      .repeated("then", "NAME", "another ordering, of what the one before left")
      .value("sides", "rows|cols|both",
             "what moves (default: both for a square matrix, so that a graph keeps its meaning, "
             "rows otherwise)")
      .flag("descending", "degree: longest rows first")
      .flag("binned", "degree: lengths within a factor of two count as equal")
      .value("parts", "N",
             "metis-partition: number of parts (default: so that a part's rows of B fit the cache)")
      .value("cache-size", "SIZE",
             "metis-partition: cache for a part's rows of B, of 64 columns or the first of -k",
             "1M")
      .value("inside", "keep|degree|rcm", "metis-partition: how the rows of a part lie", "keep")
      .value("time-limit", "SECONDS",
             "metis-*: give up after this time; --advise: on a sample (default: 60)")
      .value("seed", "N", "of random choices", "1")
      .value("memory-limit", "SIZE",
             "refuse an ordering that is expected to need more beside the matrix, e.g. 8G")
      .flag("undo", "instead of --method: restore the order at import")
      .value("apply-to", "X.npy",
             "instead of --method: bring a dense operand into the order of INPUT.csr, with --undo "
             "out of it; OUTPUT is an .npy file")
      .flag("report",
            "say in full what the order was worth: locality before and after, and with --machine "
            "the forecast of SpMM times and after how many products the reordering pays back")
      .flag("measure", "with --report: multiply on the CPU before and after as well")
      .flag("advise",
            "instead of an OUTPUT: which method is worth it, by forecasts for --machine that try "
            "every method on a sample")
      .value("multiplications", "N",
             "with --advise: count the cost of the ordering against so many products")
      .value("sample", "N", "with --advise: nonzeros to try methods on", "2000000")
      .example("csr-reorder tiny.csr rcm.csr --method rcm",
               "reverse Cuthill-McKee, small bandwidth")
      .example("csr-reorder tiny.csr reported.csr --method rcm --report --measure -k 32",
               "was it worth it?")
      .example("csr-reorder tiny.csr --advise --machine quick.json --multiplications 1000",
               "which method, if any, for a thousand products")
      .example("csr-reorder tiny.csr both.csr --method community --then degree --binned",
               "communities, then rows of like length together")
      .example("csr-reorder tiny.csr sorted.csr --method degree --descending --sides=rows",
               "longest rows first, columns stay")
      .example("csr-reorder rcm.csr moved_b.npy --apply-to b.npy", "B for the reordered matrix")
      .example("csr-reorder rcm.csr back.csr --undo", "back to the order at import")
      .on_list(list_methods);
  declare_locality_options(options);
  declare_io(options);
  options.parse(argc, argv);

  ReorderToolOptions result;
  result.input = options.names()[0];
  result.is_advice = options.flag("advise");
  if ((options.names().size() == 1) != result.is_advice) {
    throw UsageError(result.is_advice ? "--advise writes no file: expected no OUTPUT, found '" +
                                            options.names()[1] + "'"
                                      : "expected INPUT.csr OUTPUT, found '" + result.input + "'");
  }
  if (!result.is_advice) result.output = options.names()[1];
  result.read = read_options(options);
  result.is_undo = options.flag("undo");
  result.operand = options.text("apply-to");
  const bool is_apply = options.given("apply-to");
  if (result.is_advice) {
    read_advise_options(options, &result);
    return result;
  }
  if (options.given("method") == (result.is_undo || is_apply)) {
    throw UsageError(
        "expected either --method NAME or --undo or --apply-to X.npy; --list shows the methods");
  }
  if (options.given("method")) result.methods.push_back(options.text("method"));
  if (options.given("then") && result.methods.empty()) {
    throw UsageError("--then continues a --method, and there is none");
  }
  for (const std::string& method : options.texts("then")) result.methods.push_back(method);
  if (options.given("sides")) {
    result.sides = is_apply ? options.choice("sides", {"rows", "cols"})
                            : options.choice("sides", {"rows", "cols", "both"});
  }
  if (result.is_undo && !is_apply && !result.sides.empty()) {
    throw UsageError("--undo restores whatever was moved; leave out --sides");
  }
  if (is_apply) {
    require_another_file(result.output, result.input);
    require_another_file(result.output, result.operand);
  }
  read_method_options(options, &result);
  read_report_options(options, &result);
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

/// The three measures that tell most, on three lines.
void add_pattern_change(Report& report, const LocalityProfile& before,
                        const LocalityProfile& after) {
  const auto change = [&](const char* key, const char* label, const Json& from, const Json& to,
                          const std::string& from_text, const std::string& to_text) {
    report.add(key, label, Json{{"before", from}, {"after", to}}, from_text + " -> " + to_text);
  };
  change("bandwidth", "bandwidth", before.bandwidth, after.bandwidth, with_commas(before.bandwidth),
         with_commas(after.bandwidth));
  change("mean_distance", "mean distance", before.mean_distance, after.mean_distance,
         fixed(before.mean_distance, 4), fixed(after.mean_distance, 4));
  change("entries_per_touched_tile", "nonzeros per touched 32x32 tile",
         before.entries_per_touched_tile, after.entries_per_touched_tile,
         fixed(before.entries_per_touched_tile, 2), fixed(after.entries_per_touched_tile, 2));
}

void report_reorder(const ReorderToolOptions& options, const CsrFile& before, const CsrFile& after,
                    double order_seconds) {
  Report report;
  report.add("output", "output", options.output);
  report.add("method", "method", options.method_text());
  add_shape(report, after.matrix);
  if (after.partition) add_partition(report, *after.partition, after.matrix);
  report.add_seconds("order_seconds", "ordering", order_seconds);
  if (options.is_reported) {
    add_locality_change(report, locality_facts(before.matrix, options.locality),
                        locality_facts(after.matrix, options.locality), order_seconds,
                        options.locality);
  } else {
    add_pattern_change(report, locality_profile(before.matrix), locality_profile(after.matrix));
  }
  print(report, options.as_json);
}

int apply_to_operand(const ReorderToolOptions& options, const CsrFile& file) {
  const DenseMatrix moved =
      operand_moved(read_npy(options.operand), file, options.sides, options.is_undo);
  write_npy(options.output, moved.view());
  Report report;
  report.add("output", "output", options.output);
  report.add("rows", "rows", static_cast<std::int64_t>(moved.rows()));
  report.add("cols", "cols", static_cast<std::int64_t>(moved.cols()));
  report.add("order", "order", options.is_undo ? "that at import" : "that of " + options.input);
  print(report, options.as_json);
  return kExitDone;
}

int give_advice(const ReorderToolOptions& options, const CsrMatrix& matrix) {
  AdviseRequest request;
  request.dense_cols = options.locality.dense_cols;
  request.machine = *options.locality.machine;
  request.sample_entries = options.sample_entries;
  request.multiplications = options.multiplications;
  request.reorder = options.reorder;
  Report report;
  add_shape(report, matrix);
  add_advice(report, advise(matrix, request), request);
  print(report, options.as_json);
  return kExitDone;
}

/// What provenance keeps of a reordering beside the command line.
Json details_of(const ReorderToolOptions& options, Sides sides, double order_seconds) {
  return {{"methods", options.methods},
          {"sides", name_of(sides)},
          {"direction", "row_new_of_old and col_new_of_old lead from the import to this file"},
          {"order_seconds", order_seconds}};
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-reorder", [&]() -> int {
    const ReorderToolOptions options = parse_reorder_options(argc, argv);
    const CsrFile before = read_csr_file(options.input, options.read);
    if (options.is_advice) return give_advice(options, before.matrix);
    if (!options.operand.empty()) return apply_to_operand(options, before);
    const Sides sides = sides_of(options.sides, before.matrix);
    const Stopwatch watch;
    CsrFile after = options.is_undo ? restored(before)
                                    : reordered(before, options.methods, sides, options.reorder);
    const double order_seconds = watch.seconds();
    const Json details = options.is_undo ? Json() : details_of(options, sides, order_seconds);
    after.provenance = append_step(
        before.provenance,
        {options.command_line, {digest_file(options.input)}, options.is_undo ? nullptr : &details});
    write_csr_file(options.output, after, terminal_progress());
    report_reorder(options, before, after, order_seconds);
    return kExitDone;
  });
}

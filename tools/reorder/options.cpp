#include "tools/reorder/options.h"

#include <algorithm>

#include "api/reordering.h"
#include "core/base/ending.h"
#include "core/base/text.h"
#include "tools/cli/list.h"
#include "tools/cli/log.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/outputs.h"
#include "tools/cli/parameter_options.h"

namespace csrkit {

namespace {

constexpr char kWidth[] = "dense-cols";  // -k, and a parameter of metis-partition

std::string list_methods(bool as_json) {
  std::vector<ListRow> rows;
  for (const ReorderMethod& method : reorder_methods()) {
    rows.push_back({method.name,
                    std::string(method.summary) + (method.needs_square() ? "; square only" : "") +
                        (method.is_available ? "" : "; NOT AVAILABLE: built without METIS"),
                    method.parameters});
  }
  return list_rows("method", rows, as_json);
}

/// Parameters of methods that have an option of their own; -k gives dense-cols.
std::vector<OwnedParameter> method_parameters() {
  std::vector<OwnedParameter> table = all_parameters(reorder_methods());
  table.erase(
      std::remove_if(table.begin(), table.end(),
                     [](const OwnedParameter& row) { return row.parameter.name == kWidth; }),
      table.end());
  return table;
}

bool takes_width(const std::vector<std::string>& methods) {
  return std::any_of(methods.begin(), methods.end(), [](const std::string& method) {
    return find_parameter(find_reorder_method(method).parameters, kWidth) != nullptr;
  });
}

void require_random(const std::vector<std::string>& methods) {
  std::string names;
  for (const ReorderMethod& method : reorder_methods()) {
    if (!method.is_random) continue;
    if (std::count(methods.begin(), methods.end(), method.name) > 0) return;
    append_item(names, method.name);
  }
  throw UsageError("--seed is for --advise and --method " + names);
}

void read_method_options(const Options& options, ReorderToolOptions* result) {
  ReorderOptions& reorder = result->reorder;
  reorder.parameters = given_parameters(options, method_parameters());
  // --report and --advise look at every width of B, an ordering that asks for one at the first.
  const bool is_for_method = !options.flag("report") || takes_width(result->methods);
  if (options.given(kWidth) && (result->is_advice || is_for_method)) {
    if (!result->is_advice && !takes_width(result->methods)) {
      throw UsageError("--" + std::string(kWidth) + " is for --report, --advise and --method " +
                       owners_of(reorder_methods(), kWidth));
    }
    reorder.parameters[kWidth] =
        std::to_string(options.different_integers(kWidth, 1, kMaxIndex).front());
  }
  if (!result->is_advice) require_taken(reorder.parameters, result->methods);
  if (options.given("memory-limit")) reorder.memory_limit_bytes = options.bytes("memory-limit");
  if (options.given("seed") && !result->is_advice) require_random(result->methods);
  reorder.seed = options.seed();
  reorder.progress = terminal_progress();
}

void read_advise_options(const Options& options, ReorderToolOptions* result) {
  std::vector<std::string> foreign = {"method",   "then",          "sides",   "undo",
                                      "apply-to", "report",        "measure", "order-from",
                                      "order-is", "partition-from"};
  for (const OwnedParameter& row : method_parameters()) {
    if (row.parameter.name != "time-limit") foreign.push_back(row.parameter.name);
  }
  for (const std::string& option : foreign) {
    if (options.given(option)) {
      throw UsageError("--advise looks at every method; leave out --" + option);
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

Options declare_reorder() {
  Options options(
      "csr-reorder", "INPUT.csr [OUTPUT]", 1, 2,
      "Puts rows, columns or both into another order. The file remembers the order at "
      "import, so --undo needs no other file, and --apply-to moves dense operands along.");
  options.value("method", "NAME", "the ordering; --list shows them")
      .value("order-from", "FILE",
             "instead of --method: an order of another program, .npy or text, one number per row")
      .value(
          "order-is", "old-of-new|new-of-old",
          "how --order-from reads: the old row of each place (A[p] in NumPy, what SciPy returns), "
          "or the new place of each row",
          "old-of-new")
      .value(
          "partition-from", "FILE",
          "instead of --method: the part of each row, from any partitioner, .npy or text; rows of "
          "a part become neighbours, and the file keeps the parts")
      .repeated("then", "NAME", "another ordering, applied to the result of the one before")
      .value("sides", "rows|cols|both",
             "what moves (default: both for a square matrix, so that a graph keeps its meaning, "
             "rows otherwise)")
      .value("seed", "N", "of random choices", "1")
      .value("memory-limit", "SIZE",
             "refuse an ordering that is expected to need more memory beside the matrix, e.g. 8G")
      .flag("undo", "instead of --method: restore the order at import")
      .value("apply-to", "X.npy",
             "instead of --method: bring a dense operand into the order of INPUT.csr, with --undo "
             "out of it; OUTPUT is an .npy file")
      .flag("report",
            "report in full what the order is worth: locality before and after, and with --machine "
            "the forecast SpMM times and the number of products after which it pays back")
      .flag("measure", "with --report: also multiply on the CPU, before and after")
      .flag("advise",
            "instead of writing OUTPUT: recommend a method, by forecasts for --machine; every "
            "method is tried on a sample")
      .value("multiplications", "N",
             "with --advise: spread the cost of the ordering over N products")
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
      .example("csr-reorder tiny.csr parts.csr --partition-from parts.txt",
               "the parts that another program has found")
      .example("csr-reorder rcm.csr moved_b.npy --apply-to b.npy", "B for the reordered matrix")
      .example("csr-reorder rcm.csr back.csr --undo", "back to the order at import")
      .writes_files()
      .on_list(list_methods);
  declare_parameters(options, method_parameters());
  declare_locality_options(options);
  declare_io(options);
  return options;
}

void read_names(const Options& options, ReorderToolOptions* result) {
  result->input = options.names()[0];
  result->is_advice = options.flag("advise");
  if ((options.names().size() == 1) != result->is_advice) {
    throw UsageError(result->is_advice
                         ? "--advise writes no file: expected no OUTPUT, found '" +
                               options.names()[1] + "'"
                         : "expected INPUT.csr OUTPUT, found '" + result->input + "'");
  }
  if (!result->is_advice) result->output = options.names()[1];
}

/// Where the order comes from, and what it moves.
void read_order(const Options& options, bool is_apply, ReorderToolOptions* result) {
  result->order_from = options.text("order-from");
  result->partition_from = options.text("partition-from");
  const int wishes = options.given("method") + options.given("order-from") +
                     options.given("partition-from") + (result->is_undo || is_apply);
  if (wishes != 1) {
    throw UsageError(
        "expected one of --method NAME, --order-from FILE, --partition-from FILE, --undo and "
        "--apply-to X.npy; --list shows the methods");
  }
  if (options.given("order-is") && !options.given("order-from")) {
    throw UsageError("--order-is is for --order-from");
  }
  if (options.choice("order-is", {"old-of-new", "new-of-old"}) == "new-of-old") {
    result->direction = Direction::new_of_old;
  }
  if (options.given("method")) result->methods.push_back(options.text("method"));
  const bool is_outside = options.given("order-from") || options.given("partition-from");
  if (options.given("then") && result->methods.empty() && !is_outside) {
    throw UsageError("--then continues an order, and there is none");
  }
  for (const std::string& method : options.texts("then")) result->methods.push_back(method);
  if (options.given("sides")) {
    result->sides = is_apply ? options.choice("sides", {"rows", "cols"})
                             : options.choice("sides", {"rows", "cols", "both"});
  }
  if (result->is_undo && !is_apply && !result->sides.empty()) {
    throw UsageError("--undo restores whatever was moved; leave out --sides");
  }
}

}  // namespace

ReorderToolOptions parse_reorder_options(int argc, const char* const* argv) {
  Options options = declare_reorder();
  options.parse(argc, argv);

  ReorderToolOptions result;
  read_names(options, &result);
  result.read = read_options(options);
  result.is_undo = options.flag("undo");
  result.operand = options.text("apply-to");
  const bool is_apply = options.given("apply-to");
  if (result.is_advice) {
    read_advise_options(options, &result);
    return result;
  }
  read_order(options, is_apply, &result);
  // A matrix may be replaced by itself in another order, with --force.
  require_outputs(
      options, {result.output},
      {is_apply ? result.input : "", result.operand, result.order_from, result.partition_from});
  require_ending(result.output, {is_apply ? ".npy" : ".csr"});
  if (!result.partition_from.empty() && result.sides == "cols") {
    throw UsageError("--partition-from names the parts of rows; leave out --sides=cols");
  }
  read_method_options(options, &result);
  read_report_options(options, &result);
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

}  // namespace csrkit

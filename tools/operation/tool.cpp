#include "tools/operation/tool.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/rooms.h"
#include "core/base/ending.h"
#include "core/base/error.h"
#include "core/file/csr_file.h"
#include "core/file/plan_file.h"
#include "tools/cli/log.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/outputs.h"
#include "tools/cli/provenance.h"
#include "tools/cli/run_tool.h"
#include "tools/operation/machine.h"
#include "tools/operation/operands/orders.h"
#include "tools/operation/operations.h"
#include "tools/operation/product/operation.h"
#include "tools/operation/tuning.h"

namespace csrkit {

namespace {

struct ToolOptions {
  std::vector<std::string> matrices;  // one or two
  bool may_have_second = false;
  CsrReadOptions read;
  NamedKernel kernel;
  Request request;
  std::string tune, save_plan, load_plan;  // files, "" = none
  bool as_json = false;
  std::vector<std::string> command_line;
};

bool any_kernel(const Operation& operation, const std::string& room,
                const std::function<bool(const KernelInfo&)>& holds) {
  const auto kernels = operation.kernels(room);
  return std::any_of(kernels.begin(), kernels.end(),
                     [&](const KernelInfo* kernel) { return holds(*kernel); });
}

CommonOptions common_options(const Operation& operation, const std::string& room) {
  return {room == kGpu, (operation.facts().all_capabilities & kSemirings) != 0,
          any_kernel(operation, room, [&](const auto& row) { return operation.has_variants(row); }),
          any_kernel(operation, room, [](const auto& row) { return row.can(kSchedule); })};
}

void read_choices(const Options& options, bool with_plans, ToolOptions* result) {
  result->tune = options.text("tune");
  for (const char* option : {"kernel", "variant"}) {
    if (options.given("tune") && options.given(option)) {
      throw UsageError("--tune chooses the kernel; leave --" + std::string(option) + " out");
    }
  }
  if (!with_plans) return;
  result->save_plan = options.text("save-plan");
  result->load_plan = options.text("load-plan");
  if (options.given("load-plan") && options.given("kernel")) {
    throw UsageError("--load-plan chooses the kernel; leave --kernel out");
  }
  if (options.given("tune") && options.given("load-plan")) {
    throw UsageError("--load-plan names its kernel already; leave --tune out");
  }
}

ToolOptions parse(const std::string& tool, const Operation& operation, const std::string& room,
                  int argc, const char* const* argv) {
  const ToolPage page = operation.page(room);
  const CommonOptions common = common_options(operation, room);
  const bool with_plans = operation.facts().is_tunable && room == kGpu;
  Options options(tool, page.names, 1, page.max_names, page.summary);
  declare_common_options(options, common);
  options.add(operation.facts().options);
  options.add(operation.room_options(room));
  if (operation.facts().is_tunable) {
    options.value("tune", "CACHE.json",
                  "measure every production kernel on this matrix and use the fastest; the file "
                  "remembers, and what it remembers is not measured again");
  }
  if (with_plans) {
    options
        .value("save-plan", "FILE", "keep the choice and the analysis of the matrix, if C is right")
        .value("load-plan", "FILE", "use what --save-plan kept for the same matrix and options");
  }
  options.writes_files();
  declare_io(options);
  for (const auto& [words, purpose] : page.examples) options.example(tool + " " + words, purpose);
  options.on_list([&](bool as_json) {
    if (common.is_gpu) require_gpu_room("--list");
    return list_kernels({&operation}, {room}, /*with_marks=*/false, as_json);
  });
  options.parse(argc, argv);

  ToolOptions result;
  result.matrices = options.names();
  result.may_have_second = page.max_names > 1;
  result.read = read_options(options);
  result.request = read_common_options(options, common);
  operation.read_options(options, &result.request);
  operation.read_room_options(options, room, &result.request);
  if (common.is_gpu) require_gpu_room(tool);
  result.kernel = find_kernel(operation, room, options.text("kernel"));
  if (common.has_variants) result.kernel.variant = options.text("variant");
  if (operation.facts().is_tunable) read_choices(options, with_plans, &result);
  std::vector<std::string> inputs = result.matrices;
  inputs.insert(inputs.end(), {result.request.mask, result.request.input,
                               result.request.second_input, result.load_plan});
  require_other_files({result.request.output, result.tune, result.save_plan}, inputs);
  require_outputs(options, {result.request.output, result.save_plan}, inputs);
  require_ending(result.request.output, operation.facts().output_endings);
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

/// Warns if A's columns and the rows of op(B), which meet, are in different orders.
void look_at_inner_order(const CsrFile& a, const CsrFile& b, bool transposes_b,
                         const Operands& operands) {
  const Index size = transposes_b ? b.matrix.cols() : b.matrix.rows();
  if (size != a.matrix.cols()) return;  // refused later
  warn_of_other_order(a.col_order, transposes_b ? b.col_order : b.row_order, size,
                      "columns of " + operands.a_name + " and " +
                          (transposes_b ? "columns" : "rows") + " of " + operands.b_name);
}

/// Warns if the mask and C, which has A's rows, are in different orders.
void look_at_mask_order(const CsrFile& a, const std::optional<Permutation>& c_col_order,
                        const CsrFile& mask, const std::string& mask_name) {
  const Index rows = mask.matrix.rows(), cols = mask.matrix.cols();
  if (rows != a.matrix.rows() || (c_col_order && c_col_order->size() != cols)) {
    return;  // refused later
  }
  const std::string names = "'" + mask_name + "' and of the product";
  warn_of_other_order(mask.row_order, a.row_order, rows, "rows of " + names);
  warn_of_other_order(mask.col_order, c_col_order, cols, "columns of " + names);
}

/// The operands, and what is to be known about their files. Fills request.beside_output.
struct ReadOperands {
  Operands operands;
  FileDigest a;
};
ReadOperands read_operands(const ToolOptions& options, Request* request) {
  ReadOperands result;
  Operands& operands = result.operands;
  ProvenanceStep step;
  step.command_line = options.command_line;
  const auto read = [&](const std::string& path) {
    CsrReadOptions how = options.read;
    step.inputs.emplace_back();
    how.digest = &step.inputs.back();
    return read_csr_file(path, how);
  };
  const std::string& first = options.matrices.front();
  const auto read_if_other = [&](const std::string& path) {
    return path == first ? std::nullopt : std::optional<CsrFile>(read(path));
  };
  const std::string& second = options.matrices.back();
  operands.a_name = "'" + first + "'";
  operands.b_name = "'" + second + "'";
  const CsrFile a = read(first);
  result.a = step.inputs.front();
  operands.a = converted(a.matrix, *request, first);
  // Rows of a sparse C are those of A, columns those of op(B). What was read beside A is let go.
  std::optional<Permutation> c_col_order;
  {
    const std::optional<CsrFile> other = read_if_other(second);
    const CsrFile& b = other ? *other : a;
    operands.b = other ? converted(b.matrix, *request, second) : operands.a;
    c_col_order = request->transpose ? b.row_order : b.col_order;
    if (options.may_have_second) look_at_inner_order(a, b, request->transpose, operands);
  }
  if (!request->mask.empty()) {
    const std::optional<CsrFile> other = read_if_other(request->mask);
    operands.mask = other ? other->matrix : operands.a;
    look_at_mask_order(a, c_col_order, other ? *other : a, request->mask);
  }
  if (!request->output.empty()) {
    CsrFile& beside = request->beside_output;
    beside.row_order = a.row_order;
    beside.col_order = std::move(c_col_order);
    beside.provenance = append_step(a.provenance, step);
  }
  return result;
}

/// As measured(). What fails then, short of memory, say, leaves no file of the first product.
Outcome measured_or_no_file(Run& run, const Request& request) {
  try {
    return measured(run, request);
  } catch (...) {
    if (run.outcome.passed() && !request.output.empty()) {
      std::error_code ignored;  // a link stays, and what it names goes
      std::filesystem::remove(std::filesystem::canonical(request.output, ignored), ignored);
    }
    throw;
  }
}

/// What plans are kept under: the build, and a case_key, a line for each of its parts.
PlanKey plan_key(const TuningCase& asked) {
  const Json parts = case_key(asked);
  PlanKey key{{"build", build_of_plans(asked.room)}};
  for (const auto& [name, value] : parts.items()) key.emplace_back(name, value.dump());
  return key;
}

/// Sets options.kernel to the one that was tuned for or loaded.
Outcome execute(ToolOptions& options) {
  Request request = options.request;
  const ReadOperands input = read_operands(options, &request);
  TuningCase asked{options.kernel.operation, options.kernel.room,
                   input.operands,           request,
                   input.a.xxh3_128,         device_name(options.kernel.room, request.plan.where)};
  std::string because;
  SavedPlan loaded;
  if (!options.tune.empty()) {
    const TunedKernel tuned = tuned_kernel(options.tune, asked);
    options.kernel = tuned.kernel;
    because = tuned.because;
  } else if (!options.load_plan.empty()) {
    loaded = read_plan(options.load_plan, plan_key(asked));
    options.kernel.kernel = find_kernel(*asked.operation, asked.room, loaded.kernel).kernel;
    if (!loaded.analysis.empty()) request.plan.saved = &loaded.analysis;
    because = "plan of " + options.load_plan;
  }
  const std::unique_ptr<Run> run =
      asked.operation->prepare(options.kernel, input.operands, request);
  say_choice(run->outcome, options.kernel.full_name());
  if (!options.save_plan.empty() && run->outcome.passed()) {
    const std::string chosen = run->plan().chosen_kernel();
    // What another operation's kernel derived is chosen anew, by the kernel that was asked for.
    const bool is_ours = !chosen.empty() && chosen.find('.') == std::string::npos;
    write_plan(options.save_plan, plan_key(asked),
               {is_ours ? chosen : options.kernel.kernel->name, run->plan().save_analysis()});
  }
  Outcome outcome = measured_or_no_file(*run, request);
  if (!because.empty()) {
    outcome.choice = because + (outcome.choice.empty() ? "" : "; ") + outcome.choice;
  }
  return outcome;
}

int report_outcome(const ToolOptions& options, const Outcome& outcome) {
  Report report;
  report.add_json("matrix", options.matrices.front());
  if (options.may_have_second) report.add_json("second_matrix", options.matrices.back());
  report.add_json("kernel", options.kernel.full_name());
  report.add_json("command_line", options.command_line);
  add_outcome(&report, outcome, options.kernel.full_name(), options.request.is_cold);
  if (!options.request.output.empty() && outcome.passed()) {
    report.add("output", "output", options.request.output);
  }
  if (!options.save_plan.empty() && outcome.passed()) {
    report.add("plan_file", "plan kept in", options.save_plan);
  }
  print(report, options.as_json);
  if (outcome.passed()) return kExitDone;
  log_error("the product is wrong: " + outcome.check->failure);
  return kExitCheckFailed;
}

}  // namespace

int run_operation_tool(const char* name, const char* room, int argc, const char* const* argv) {
  const std::string tool = std::string("csr-") + name + "-" + room;
  return run_tool(tool.c_str(), [&] {
    ToolOptions options = parse(tool, find_operation(name), room, argc, argv);
    // A GPU that is not there is said before a large file is read in vain.
    log_debug("runs on " + device_name(room, options.request.plan.where));
    const Outcome outcome = execute(options);
    return report_outcome(options, outcome);
  });
}

}  // namespace csrkit

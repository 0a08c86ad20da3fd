#include "tools/support/spgemm_tool.h"

#include <nlohmann/json.hpp>

#include "core/file_digest.h"
#include "cpu/spgemm/registry.h"
#include "tools/support/log.h"
#include "tools/support/matrix_input.h"
#include "tools/support/provenance.h"
#include "tools/support/report.h"
#include "tools/support/run_tool.h"

namespace csrkit {

namespace {

std::string spgemm_capability_names(Capabilities capabilities) {
  static constexpr std::pair<Capabilities, const char*> kNames[] = {
      {kImplicitOnes, "none"},
      {kF32, "f32"},
      {kF64, "f64"},
      {kF16, "f16"},
      {kBf16, "bf16"},
      {kTranspose, "transpose"},
      {kAlphaBeta, "alpha"},
      {kSemirings, "semirings"},
      {kMask, "mask"},
      {kDropBelow, "drop-below"},
      {kReuse, "reuse"},
      {kRowBlocks, "row-blocks"},
      {kDeterministic, "deterministic"},
      {kIeeeSpecials, "ieee"}};
  if ((capabilities & kSpgemmEverything) == kSpgemmEverything) return "everything";
  std::string names;
  for (const auto& [bit, name] : kNames) {
    if ((capabilities & bit) != 0) names += (names.empty() ? "" : " ") + std::string(name);
  }
  return names;
}

CsrMatrix in_kind(const CsrMatrix& matrix, const std::optional<ValueKind>& kind) {
  return kind && *kind != matrix.value_kind() ? convert_values(matrix, *kind) : matrix;
}

}  // namespace

std::string list_kernels(const SpgemmRoom& room, bool as_json) {
  TextTable table({"kernel", "role", "what it does", "can"});
  Json rows = Json::array();
  for (const SpgemmKernel& kernel : *room.table) {
    const std::string can = spgemm_capability_names(kernel.capabilities);
    table.add({room.full_name(kernel), name_of(kernel.role), kernel.summary, can});
    rows.push_back({{"kernel", room.full_name(kernel)},
                    {"role", name_of(kernel.role)},
                    {"summary", kernel.summary},
                    {"can", can}});
  }
  return as_json ? rows.dump() + "\n" : table.text();
}

std::string SpgemmRoom::full_name(const SpgemmKernel& kernel) const {
  return name + ".spgemm." + kernel.name;
}

const SpgemmKernel& SpgemmRoom::find(const std::string& wanted) const {
  for (const std::string& prefix : {name + ".spgemm.", name + "."}) {
    if (wanted.rfind(prefix, 0) == 0) return find_kernel(*table, wanted.substr(prefix.size()));
  }
  return find_kernel(*table, wanted);
}

SpgemmRoom cpu_spgemm_room() { return {"cpu", &cpu::spgemm_kernels()}; }

SpgemmToolOptions parse_spgemm_options(int argc, const char* const* argv, const SpgemmRoom& room) {
  const bool is_gpu = room.name == "gpu";
  const std::string tool = "csr-spgemm-" + room.name;
  Options options(tool, "A.csr [B.csr]", 1, 2,
                  "Multiplies two sparse matrices on a " + std::string(is_gpu ? "GPU" : "CPU") +
                      " (A with itself without B.csr), checks the sparse result and reports the "
                      "throughput.");
  declare_spgemm_options(options);
  declare_io(options);
  if (is_gpu) {
    options.value("device", "N", "which of the visible GPUs", "0");
  } else {
    options.value("threads", "N",
                  "OpenMP threads (default: what OMP_NUM_THREADS or the system says)");
  }
  options.example(tool + " graph.csr --check", "A * A, checked and measured")
      .example(tool + " graph.csr --transpose-b --mask graph.csr --output common.csr",
               "A * A^T where A has entries: what neighbours have in common")
      .example(tool + " graph.csr --forecast --json", "what it would take, without doing it")
      .on_list([room](bool as_json) { return list_kernels(room, as_json); });
  options.parse(argc, argv);

  SpgemmToolOptions result;
  result.a = options.names()[0];
  if (options.names().size() > 1) result.b = options.names()[1];
  result.mask = options.text("mask");
  result.read = read_options(options);
  result.kernel = &room.find(options.text("kernel"));
  result.multiply = read_spgemm_options(options);
  for (const std::string& input : {result.a, result.b, result.mask}) {
    if (!input.empty()) require_another_file(result.multiply.output, input);
  }
  Execution& where = result.multiply.plan.where;
  if (is_gpu) {
    where.device = static_cast<int>(options.integer("device", 0, 1023));
  } else if (options.given("threads")) {
    where.threads = static_cast<int>(options.integer("threads", 1, 4096));
  }
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

SpgemmOutcome run_spgemm_tool(const SpgemmToolOptions& options) {
  SpgemmRequest request = options.multiply;
  const CsrFile a_file = read_csr_file(options.a, options.read);
  const CsrMatrix a = in_kind(a_file.matrix, request.value_kind);
  const bool b_is_a = options.b.empty() || options.b == options.a;
  const CsrMatrix b =
      b_is_a ? a : in_kind(read_csr_file(options.b, options.read).matrix, request.value_kind);
  std::optional<CsrMatrix> mask;
  if (options.mask == options.a) {
    mask = a;
  } else if (!options.mask.empty()) {
    mask = read_csr_file(options.mask, options.read).matrix;
  }
  if (!request.output.empty()) {
    ProvenanceStep step;
    step.command_line = options.command_line;
    step.inputs.push_back(digest_file(options.a));
    if (!b_is_a) step.inputs.push_back(digest_file(options.b));
    if (mask && options.mask != options.a) step.inputs.push_back(digest_file(options.mask));
    request.provenance = append_step(a_file.provenance, step);
  }
  return run_spgemm(*options.kernel, a, b, mask, request);
}

int report_spgemm(const SpgemmToolOptions& options, const SpgemmRoom& room,
                  const SpgemmOutcome& outcome) {
  Report report;
  report.add_json("matrix", options.a);
  report.add_json("second_matrix", options.b.empty() ? options.a : options.b);
  report.add_json("kernel", room.full_name(*options.kernel));
  report.add_json("caches", options.multiply.is_cold ? "cold" : "warm");
  const Json facts = to_json(outcome);
  for (const auto& [key, value] : facts.items()) report.add_json(key, value);
  report.add_json("command_line", options.command_line);

  const auto count = [](double number) { return with_commas(static_cast<std::int64_t>(number)); };
  const SpgemmForecast& forecast = outcome.forecast;
  if (!outcome.samples.seconds.empty()) {
    TextTable table({"kernel", "rows", "nnz(A)", "products", "nnz(C)", "products/nnz(C)",
                     "median ms", "min ms", "spread %", "GFLOP/s"});
    table.add({room.full_name(*options.kernel), with_commas(outcome.problem.output_rows()),
               with_commas(outcome.problem.a.nnz()), count(forecast.products),
               with_commas(outcome.phases.output_nnz), fixed(outcome.cost.compression, 2),
               fixed(outcome.samples.median_seconds() * 1e3, 3),
               fixed(outcome.samples.min_seconds() * 1e3, 3),
               fixed(100 * outcome.samples.spread(), 1), fixed(outcome.gflops(), 2)});
    report.add_text(table.text() + "\n");
  }
  if (!outcome.choice.empty()) report.add("choice", "choice", outcome.choice);
  report.add_line("forecast", count(forecast.products) + " products, at most " +
                                  with_commas(forecast.output_nnz_bound) + " entries, " +
                                  readable_bytes(static_cast<double>(forecast.whole_bytes)) +
                                  " for A, B, C and workspace; " +
                                  readable_bytes(static_cast<double>(forecast.peak_bytes)) +
                                  " within the limit");
  if (forecast.reuse_bytes > 0) {
    report.add_line("forecast, reused structure",
                    readable_bytes(static_cast<double>(forecast.reuse_bytes)) +
                        " for all that and what new values want");
  }
  if (!outcome.has_run) {
    print(report, options.as_json);
    return kExitDone;
  }
  report.add("caches", "caches", options.multiply.is_cold ? "cold" : "warm");
  report.add("check", "check", facts["check"], check_text(outcome.check));
  const SpgemmPhases& phases = outcome.phases;
  const auto phase = [&](const char* label, double seconds) {
    if (seconds > 0) report.add_line(label, readable_seconds(seconds));
  };
  phase("upload", phases.upload_seconds);
  phase("analysis", phases.analysis_seconds);
  phase("symbolic", phases.symbolic_seconds);
  phase("numeric", phases.numeric_seconds);
  phase("sort", phases.sort_seconds);
  phase("output", phases.output_seconds);
  if (!outcome.numeric_samples.seconds.empty()) {
    phase("structure", outcome.structure_seconds);
    phase("numeric, reused structure", outcome.numeric_samples.median_seconds());
  }
  report.add_line("memory", readable_bytes(static_cast<double>(outcome.peak_bytes)) + ", " +
                                fixed(outcome.peak_ratio(), 2) + " times A, B and C; " +
                                with_commas(phases.row_blocks) +
                                (phases.row_blocks == 1 ? " block" : " blocks") + " of rows");
  if (outcome.reuse_peak_bytes > 0) {
    report.add_line("memory, reused structure",
                    readable_bytes(static_cast<double>(outcome.reuse_peak_bytes)));
  }
  if (!options.multiply.output.empty() && outcome.passed()) {
    report.add("output", "output", options.multiply.output);
  }
  print(report, options.as_json);
  if (outcome.passed()) return kExitDone;
  log_error("the product is wrong: " + outcome.check->failure);
  return kExitCheckFailed;
}

}  // namespace csrkit

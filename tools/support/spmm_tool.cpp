#include "tools/support/spmm_tool.h"

#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "core/file_digest.h"
#include "tools/support/log.h"
#include "tools/support/plan_file.h"
#include "tools/support/problem_key.h"
#include "tools/support/report.h"
#include "tools/support/run_tool.h"
#include "tools/support/tuning.h"

namespace csrkit {

SpmmToolOptions parse_spmm_options(int argc, const char* const* argv, const KernelRoom& room) {
  const bool is_gpu = room.name == "gpu";
  const std::string tool = "csr-spmm-" + room.name;
  Options options(tool, "MATRIX.csr", 1, 1,
                  "Multiplies a sparse matrix with a dense one on a " +
                      std::string(is_gpu ? "GPU" : "CPU") +
                      ", checks the result and reports the throughput.");
  declare_multiply_options(options);
  declare_io(options);
  options.value("tune", "CACHE.json",
                "measure every production kernel on this matrix and use the fastest; the file "
                "remembers, and what it remembers is not measured again");
  if (is_gpu) {
    options.value("device", "N", "which of the visible GPUs", "0")
        .value("save-plan", "FILE", "keep the choice and the analysis of the matrix, if C is right")
        .value("load-plan", "FILE", "use what --save-plan kept for the same matrix and options");
  } else {
    options
        .value("threads", "N", "OpenMP threads (default: what OMP_NUM_THREADS or the system says)")
        .value("schedule", "NAME",
               "how rows are shared out, for kernels that can: auto, static, dynamic or guided",
               "auto")
        .value("chunk", "N", "rows per chunk of --schedule");
  }
  options
      .example(tool + " graph.csr -k 64 --check",
               "check and measure the default kernel, 64 columns")
      .example(tool + " graph.csr -k 32 --seed 7 --output product.npy --check=full",
               "keep the product, after every row of it was checked")
      .example(tool + " graph.csr --kernel " + (is_gpu ? "v1_warp_per_row" : "row_parallel") +
                   " --repeat 3 --json",
               "one kernel, as JSON");
  if (is_gpu) {
    options
        .example(tool + " graph.csr -k 64 --tune tuned.json --save-plan graph.plan",
                 "find the fastest kernel for this matrix once, and keep the plan")
        .example(tool + " graph.csr -k 64 --load-plan graph.plan", "multiply by that plan");
  } else {
    options.example(tool + " graph.csr -k 64 --tune tuned.json",
                    "find the fastest kernel and setting for this matrix once");
  }
  options.on_list([room](bool as_json) { return list_kernels({room}, as_json); });
  options.parse(argc, argv);

  SpmmToolOptions result;
  result.matrix = options.names()[0];
  result.read = read_options(options);
  result.kernel = &room.find(options.text("kernel"));
  result.multiply = read_multiply_options(options);
  require_another_file(result.multiply.output, result.matrix);
  result.tune = options.text("tune");
  for (const char* option : {"kernel", "variant"}) {
    if (options.given("tune") && options.given(option)) {
      throw UsageError("--tune chooses the kernel; leave --" + std::string(option) + " out");
    }
  }
  require_another_file(result.tune, result.matrix);
  Execution& where = result.multiply.plan.where;
  if (is_gpu) {
    where.device = static_cast<int>(options.integer("device", 0, 1023));
    result.save_plan = options.text("save-plan");
    result.load_plan = options.text("load-plan");
    if (options.given("load-plan") && options.given("kernel")) {
      throw UsageError("--load-plan chooses the kernel; leave --kernel out");
    }
    if (options.given("tune") && options.given("load-plan")) {
      throw UsageError("--load-plan names its kernel already; leave --tune out");
    }
    require_another_file(result.save_plan, result.matrix);
  } else {
    if (options.given("threads"))
      where.threads = static_cast<int>(options.integer("threads", 1, 4096));
    where.schedule = options.parsed("schedule", parse_schedule);
    if (options.given("chunk"))
      where.chunk = static_cast<int>(options.integer("chunk", 1, 1 << 30));
  }
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

MultiplyOutcome run_spmm(SpmmToolOptions& options, const KernelRoom& room,
                         const std::string& device) {
  const CsrFile file = read_csr_file(options.matrix, options.read);
  const CsrMatrix a = converted(file.matrix, options.multiply);
  MultiplyRequest request = options.multiply;
  const bool is_kept = !options.save_plan.empty() || !options.load_plan.empty();
  ProblemPlace place{"", device};
  if (is_kept || !options.tune.empty()) {
    place.matrix_xxh3_128 = digest_file(options.matrix).xxh3_128;
  }
  const Json key = problem_key(place, room, problem_of(a, request), request.plan.deterministic);

  std::string because;
  SavedPlan loaded;
  if (!options.tune.empty()) {
    const TunedKernel tuned = tuned_kernel(options.tune, place, room, a, request);
    options.kernel = tuned.kernel;
    request.plan.variant = tuned.variant;
    because = tuned.because;
  } else if (!options.load_plan.empty()) {
    loaded = read_plan(options.load_plan, key);
    options.kernel = &room.find(loaded.kernel);
    if (!loaded.analysis.empty()) request.plan.saved = &loaded.analysis;
    because = "plan of " + options.load_plan;
  }
  if (!options.save_plan.empty()) {
    request.on_right = [&](SpmmPlan& plan) {
      const std::string chosen = plan.chosen_kernel();
      write_plan(options.save_plan, key,
                 {chosen.empty() ? options.kernel->name : chosen, plan.save_analysis()});
    };
  }
  MultiplyOutcome outcome = run_multiply(*options.kernel, a, request);
  if (!because.empty()) {
    outcome.choice = because + (outcome.choice.empty() ? "" : "; ") + outcome.choice;
  }
  return outcome;
}

int report_spmm(const SpmmToolOptions& options, const KernelRoom& room,
                const MultiplyOutcome& outcome) {
  const CsrMatrix& a = outcome.problem.a;
  Report report;
  report.add_json("matrix", options.matrix);
  report.add_json("kernel", room.full_name(*options.kernel));
  report.add_json("caches", options.multiply.is_cold ? "cold" : "warm");
  const Json measured = to_json(outcome);
  for (const auto& [key, value] : measured.items()) report.add_json(key, value);
  report.add_json("command_line", options.command_line);

  if (!outcome.samples.seconds.empty()) {
    TextTable table({"kernel", "rows", "nnz", "K", "median ms", "min ms", "spread %", "GFLOP/s",
                     "GB/s minimum", "GB/s gather"});
    table.add(
        {room.full_name(*options.kernel), with_commas(a.rows()), with_commas(a.nnz()),
         with_commas(outcome.problem.dense_cols), fixed(outcome.samples.median_seconds() * 1e3, 3),
         fixed(outcome.samples.min_seconds() * 1e3, 3), fixed(100 * outcome.samples.spread(), 1),
         fixed(outcome.gflops(), 2), fixed(outcome.minimum_gb_per_second(), 2),
         fixed(outcome.gather_gb_per_second(), 2)});
    report.add_text(table.text() + "\n");
  }
  if (!outcome.choice.empty()) report.add("choice", "choice", outcome.choice);
  report.add("caches", "caches", options.multiply.is_cold ? "cold" : "warm");
  report.add("check", "check", measured["check"], check_text(outcome.check));
  const Phases& phases = outcome.phases;
  const auto phase = [&](const char* label, double seconds) {
    if (seconds > 0) report.add_line(label, readable_seconds(seconds));
  };
  phase("upload A", phases.upload_a_seconds);
  phase("analysis", phases.analysis_seconds);
  phase("upload B", phases.upload_b_seconds);
  phase("download C", phases.download_seconds);
  if (phases.peak_bytes > 0) {
    report.add_line("plan memory", readable_bytes(static_cast<double>(phases.peak_bytes)));
  }
  if (!options.multiply.output.empty() && outcome.passed()) {
    report.add("output", "output", options.multiply.output);
  }
  if (!options.save_plan.empty() && outcome.passed()) {
    report.add("plan_file", "plan kept in", options.save_plan);
  }
  print(report, options.as_json);
  if (outcome.passed()) return kExitDone;
  log_error("the product is wrong: " + outcome.check->failure);
  return kExitCheckFailed;
}

}  // namespace csrkit

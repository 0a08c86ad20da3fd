#include "tools/support/multiply_flow.h"

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/available_memory.h"
#include "core/npy_file.h"
#include "tools/support/dense_io.h"
#include "tools/support/log.h"
#include "tools/support/progress.h"
#include "tools/support/report.h"

namespace csrkit {

namespace {

constexpr double kGiga = 1e9;

double per_second(double amount, const Samples& samples) {
  const double seconds = samples.median_seconds();
  return seconds > 0 ? amount / kGiga / seconds : 0;
}

std::uint64_t dense_bytes(Index rows, Index cols, ValueKind kind) {
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) *
         static_cast<std::uint64_t>(size_of(kind));
}

DenseMatrix copy_of(const DenseMatrix& dense) {
  DenseMatrix copy(dense.rows(), dense.cols(), dense.kind());
  if (dense.size_bytes() > 0) std::memcpy(copy.view().data, dense.view().data, dense.size_bytes());
  return copy;
}

CheckOptions check_options(CheckKind kind) {
  CheckOptions options;
  if (kind == CheckKind::full) options.work_limit = 0;
  if (kind == CheckKind::sampled) options.work_limit = 1;
  return options;
}

}  // namespace

double MultiplyOutcome::gflops() const { return per_second(cost.flops, samples); }
double MultiplyOutcome::minimum_gb_per_second() const {
  return per_second(cost.minimum_bytes, samples);
}
double MultiplyOutcome::gather_gb_per_second() const {
  return per_second(cost.gather_bytes, samples);
}

void declare_multiply_options(Options& options) {
  options.value("k,dense-cols", "K", "columns of B and C", "32")
      .value("kernel", "NAME", "which kernel; --list shows them", "auto")
      .value("variant", "SETTING", "a setting of the kernel, for kernels that have some")
      .value("repeat", "N", "measured multiplications", "10")
      .value("warmup", "N", "multiplications before the measured ones", "2")
      .flag("cold", "evict A, B and C from the caches before every measured multiplication")
      .optional_value(
          "check", "auto|full|sampled",
          "judge C against float64 within the derived error bound; auto samples rows of "
          "big products; nothing wrong is timed or written",
          "auto")
      .value("input", "B.npy", "read B; otherwise it is random by --seed")
      .value("output", "C.npy", "write C, if --check is given only after it passed")
      .value("seed", "N", "of random operands", "1")
      .value("alpha", "X", "C = alpha * op(A) * B + beta * C", "1")
      .value("beta", "X", "see --alpha; C is random if this is not 0", "0")
      .flag("transpose", "op(A) is the transpose of A")
      .value("semiring", "NAME", "plus-times, min-plus, max-times or or-and", "plus-times")
      .value("value-kind", "KIND", "convert A first: none, f32, f64, f16 or bf16")
      .value("dense-kind", "KIND", "kind of B (default: that of A, f32 if A has no values)")
      .value("output-kind", "KIND", "kind of C (default: that of the accumulation)")
      .flag("nondeterministic", "allow results that differ from run to run in the last bits")
      .value("memory-limit", "SIZE", "most memory for the plan, e.g. 512M or 8G");
}

CheckKind parse_check(const Options& options, CheckKind otherwise) {
  if (!options.given("check")) return otherwise;
  const std::string kind = options.choice("check", {"auto", "full", "sampled", "none"});
  return kind == "full"      ? CheckKind::full
         : kind == "sampled" ? CheckKind::sampled
         : kind == "none"    ? CheckKind::none
                             : CheckKind::automatic;
}

MultiplyRequest read_multiply_options(const Options& options) {
  constexpr int kMaxRuns = 1000000;
  MultiplyRequest request;
  request.dense_cols = static_cast<Index>(options.integer("dense-cols", 1, kMaxIndex));
  request.stop.repeat = static_cast<int>(options.integer("repeat", 1, kMaxRuns));
  request.warmup = static_cast<int>(options.integer("warmup", 0, kMaxRuns));
  request.is_cold = options.flag("cold");
  request.check = parse_check(options, CheckKind::none);
  request.input = options.text("input");
  request.output = options.text("output");
  request.seed = options.seed("seed");
  request.alpha = options.number("alpha");
  request.beta = options.number("beta");
  request.transpose_a = options.flag("transpose");
  request.semiring = options.parsed("semiring", parse_semiring);
  if (options.given("value-kind"))
    request.value_kind = options.parsed("value-kind", parse_value_kind);
  if (options.given("dense-kind"))
    request.dense_kind = options.parsed("dense-kind", parse_value_kind);
  if (options.given("output-kind")) {
    request.output_kind = options.parsed("output-kind", parse_value_kind);
  }
  request.plan.variant = options.text("variant");
  request.plan.deterministic = !options.flag("nondeterministic");
  if (options.given("memory-limit"))
    request.plan.memory_limit_bytes = options.bytes("memory-limit");
  return request;
}

CsrMatrix converted(const CsrMatrix& a, const MultiplyRequest& request) {
  return request.value_kind && *request.value_kind != a.value_kind()
             ? convert_values(a, *request.value_kind)
             : a;
}

SpmmProblem problem_of(const CsrMatrix& a, const MultiplyRequest& request) {
  SpmmProblem problem = default_spmm_problem(a, request.dense_cols);
  problem.transpose_a = request.transpose_a;
  problem.semiring = request.semiring;
  if (request.dense_kind) {
    problem.b = *request.dense_kind;
    problem.accumulate = problem.b == ValueKind::f64 ? ValueKind::f64 : ValueKind::f32;
    problem.c = problem.accumulate;
  }
  if (request.output_kind) problem.c = *request.output_kind;
  require_legal(problem);
  return problem;
}

Samples measure_plan(SpmmPlan& plan, const MultiplyRequest& request, bool is_cold) {
  return measure(
      request.warmup, request.stop, [&] { return plan.time_multiply(request.alpha, request.beta); },
      [&] {
        if (request.between_samples) request.between_samples();
        if (is_cold) plan.evict_caches();
      });
}

MultiplyOutcome run_multiply(const SpmmKernel& kernel, const CsrMatrix& a,
                             const MultiplyRequest& request) {
  MultiplyOutcome outcome;
  outcome.problem = problem_of(a, request);
  const SpmmProblem& problem = outcome.problem;
  outcome.cost = spmm_cost(problem);
  require_available_memory(dense_bytes(problem.input_rows(), problem.dense_cols, problem.b) +
                               dense_bytes(problem.output_rows(), problem.dense_cols, problem.c) *
                                   (request.beta != 0 ? 2 : 1),
                           "holding the dense operands", "use a smaller --dense-cols");

  PlanOptions plan_options = request.plan;
  // A rival runs as its makers made it: held to determinism it does not offer, it could not run.
  if (kernel.role == Role::vendor && !kernel.can(kDeterministic))
    plan_options.deterministic = false;
  outcome.is_deterministic = kernel.can(kDeterministic);
  const std::unique_ptr<SpmmPlan> plan = kernel.make_plan(problem, plan_options);
  const DenseMatrix b = make_dense_input(request.input, problem.input_rows(), problem.dense_cols,
                                         problem.b, request.dense_kind.has_value(), request.seed);
  DenseMatrix c(problem.output_rows(), problem.dense_cols, problem.c);
  std::optional<DenseMatrix> c_before;
  if (request.beta != 0) {
    fill_random(c.view(), request.seed + 1);
    c_before = copy_of(c);
  } else {
    fill_nan(c.view());  // an element that a kernel forgets to write must not look right
  }

  plan->bind(b.view(), c.view());
  plan->multiply(request.alpha, request.beta);
  plan->fetch_output();
  outcome.choice = plan->choice();

  if (request.check != CheckKind::none && kernel.role != Role::mark) {
    const ConstDenseView c0 = c_before ? std::as_const(*c_before).view() : ConstDenseView{};
    outcome.check =
        check_spmm(problem, b.view(), request.alpha, request.beta, c_before ? &c0 : nullptr,
                   std::as_const(c).view(), check_options(request.check));
    if (!outcome.check->passed) {
      outcome.phases = plan->phases();
      return outcome;
    }
  }
  if (request.on_right) request.on_right(*plan);
  if (!request.output.empty()) write_npy(request.output, std::as_const(c).view());

  outcome.samples = measure_plan(*plan, request, request.is_cold);
  outcome.phases = plan->phases();
  return outcome;
}

Json to_json(const MultiplyOutcome& outcome) {
  const SpmmProblem& problem = outcome.problem;
  Json json{{"rows", problem.a.rows()},
            {"cols", problem.a.cols()},
            {"nnz", problem.a.nnz()},
            {"dense_cols", problem.dense_cols},
            {"kinds",
             {{"a", name_of(problem.a.value_kind())},
              {"b", name_of(problem.b)},
              {"c", name_of(problem.c)},
              {"accumulate", name_of(problem.accumulate)}}},
            {"deterministic", outcome.is_deterministic},
            {"choice", outcome.choice}};
  if (!outcome.samples.seconds.empty()) {
    json["samples_seconds"] = outcome.samples.seconds;
    json["median_seconds"] = outcome.samples.median_seconds();
    json["min_seconds"] = outcome.samples.min_seconds();
    json["spread"] = outcome.samples.spread();
    const Interval interval = outcome.samples.median_interval();
    json["median_interval_seconds"] = {interval.low, interval.high};
    json["gflops"] = outcome.gflops();
    json["minimum_gb_per_second"] = outcome.minimum_gb_per_second();
    json["gather_gb_per_second"] = outcome.gather_gb_per_second();
  }
  json["cost"] = {{"flops", outcome.cost.flops},
                  {"minimum_bytes", outcome.cost.minimum_bytes},
                  {"gather_bytes", outcome.cost.gather_bytes}};
  json["phases"] = {{"upload_a_seconds", outcome.phases.upload_a_seconds},
                    {"analysis_seconds", outcome.phases.analysis_seconds},
                    {"upload_b_seconds", outcome.phases.upload_b_seconds},
                    {"download_seconds", outcome.phases.download_seconds},
                    {"peak_bytes", outcome.phases.peak_bytes}};
  if (outcome.check) {
    json["check"] = {{"passed", outcome.check->passed},
                     {"sampled", outcome.check->sampled},
                     {"rows_checked", outcome.check->rows_checked},
                     {"worst_error_ratio", outcome.check->worst_error_ratio},
                     {"failure", outcome.check->failure}};
  } else {
    json["check"] = nullptr;
  }
  return json;
}

std::string check_text(const std::optional<CheckResult>& check) {
  if (!check) return "not checked";
  if (!check->passed) return "FAILED: " + check->failure;
  return "ok, worst error " + fixed(check->worst_error_ratio, 3) + " of the bound (" +
         (check->sampled ? with_commas(check->rows_checked) + " rows and a projection"
                         : "all rows") +
         ")";
}

}  // namespace csrkit

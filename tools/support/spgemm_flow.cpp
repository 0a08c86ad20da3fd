#include "tools/support/spgemm_flow.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "tools/support/progress.h"

namespace csrkit {

namespace {

constexpr double kGiga = 1e9;

SpgemmProblem make_problem(const CsrMatrix& a, const CsrMatrix& b,
                           const std::optional<CsrMatrix>& mask, const SpgemmRequest& request) {
  SpgemmProblem problem = default_spgemm_problem(a, b, request.transpose_b);
  problem.mask = mask;
  problem.alpha = request.alpha;
  problem.drop_below = request.drop_below;
  problem.semiring = request.semiring;
  if (request.output_kind) problem.c = problem.accumulate = *request.output_kind;
  require_legal(problem);
  return problem;
}

/// One block that is all of C stays in memory; several go to a file as they come.
class OutputSink : public CsrSink {
 public:
  OutputSink(const SpgemmProblem& problem, const SpgemmRequest& request)
      : problem_(problem), request_(request) {}

  void append_rows(const CsrMatrix& block) override {
    if (!file_ && block.rows() == problem_.output_rows()) {
      whole_ = block;
      return;
    }
    if (request_.output.empty()) {
      if (request_.check == CheckKind::none) return;
      throw MemoryError(
          "C does not fit the memory limit, so it cannot be checked here: name an --output file, "
          "which takes it in blocks of rows, or raise --memory-limit");
    }
    if (!file_) {
      file_.emplace(request_.output, problem_.output_rows(), problem_.output_cols(), problem_.c);
    }
    file_->append_rows(block);
  }

  /// C, mapped if it is in the file already; nothing if nobody wanted it.
  std::optional<CsrMatrix> finish() {
    if (!file_) return whole_;
    file_->finish({}, request_.provenance);
    file_.reset();
    is_in_file_ = true;
    CsrReadOptions read;
    read.io = FileIo::mmap;
    return read_csr_file(request_.output, read).matrix;
  }

  bool is_in_file() const { return is_in_file_; }

 private:
  const SpgemmProblem& problem_;
  const SpgemmRequest& request_;
  std::optional<CsrMatrix> whole_;
  std::optional<CsrFileSink> file_;
  bool is_in_file_ = false;
};

CheckOptions check_options(CheckKind kind) {
  CheckOptions options;
  if (kind == CheckKind::full) options.work_limit = 0;
  if (kind == CheckKind::sampled) options.work_limit = 1u << 16;
  return options;
}

/// The first product: made, checked and written. The matrix is gone when this returns.
void multiply_once(SpgemmPlan& plan, const SpgemmRequest& request, SpgemmOutcome& outcome) {
  OutputSink sink(outcome.problem, request);
  plan.multiply(sink);
  outcome.phases = plan.phases();
  const std::optional<CsrMatrix> c = sink.finish();
  if (request.check != CheckKind::none) {
    outcome.check = check_spgemm(outcome.problem, *c, check_options(request.check));
    if (!outcome.check->passed) {
      if (sink.is_in_file()) std::remove(request.output.c_str());
      return;
    }
  }
  if (!request.output.empty() && !sink.is_in_file()) {
    CsrFile file;
    file.matrix = *c;
    file.provenance = request.provenance;
    write_csr_file(request.output, file, terminal_progress());
  }
}

}  // namespace

double SpgemmOutcome::gflops() const {
  const double seconds = samples.median_seconds();
  return seconds > 0 ? cost.flops / kGiga / seconds : 0;
}

std::uint64_t SpgemmOutcome::output_bytes() const {
  return csr_bytes(problem.output_rows(), phases.output_nnz, problem.c);
}

double SpgemmOutcome::peak_ratio() const {
  return static_cast<double>(peak_bytes) /
         static_cast<double>(operand_bytes(problem) + output_bytes());
}

void declare_spgemm_options(Options& options) {
  options.value("kernel", "NAME", "which kernel; --list shows them", "auto")
      .value("repeat", "N", "measured products", "10")
      .value("warmup", "N", "products before the measured ones", "2")
      .flag("cold", "evict everything from the caches before every measured product")
      .flag("reuse", "measure the numeric phase alone, too: new values, known structure")
      .optional_value(
          "check", "auto|full|sampled",
          "judge C against float64: its structure, and its values within the derived "
          "error bound; auto samples rows of big products; nothing wrong is timed or kept",
          "auto")
      .flag("forecast", "say what the product will take, and stop")
      .value("output", "C.csr", "write C, if --check is given only after it passed")
      .flag("transpose-b", "op(B) is the transpose of B; without B.csr, C = A * A^T")
      .value("mask", "M.csr", "keep only the positions that this matrix stores")
      .value("drop-below", "X", "leave out entries of C whose absolute value is below this", "0")
      .value("alpha", "X", "C = alpha * A * op(B)", "1")
      .value("semiring", "NAME", "plus-times, min-plus, max-times or or-and", "plus-times")
      .value("value-kind", "KIND", "convert A and B first: none, f32, f64, f16 or bf16")
      .value("output-kind", "KIND", "kind of C, f32 or f64: where neither A nor B has values")
      .flag("nondeterministic", "allow results that differ from run to run in the last bits")
      .value("memory-limit", "SIZE",
             "most memory for A, B, C and all else, e.g. 512M or 8G; C is made in blocks of rows "
             "if it takes more");
}

SpgemmRequest read_spgemm_options(const Options& options) {
  constexpr int kMaxRuns = 1000000;
  SpgemmRequest request;
  request.repeat = static_cast<int>(options.integer("repeat", 1, kMaxRuns));
  request.warmup = static_cast<int>(options.integer("warmup", 0, kMaxRuns));
  request.is_cold = options.flag("cold");
  request.measures_reuse = options.flag("reuse");
  request.forecast_only = options.flag("forecast");
  request.check = parse_check(options, CheckKind::none);
  request.output = options.text("output");
  if (request.forecast_only && (!request.output.empty() || request.check != CheckKind::none)) {
    throw UsageError("--forecast makes no product: leave out --output and --check");
  }
  request.transpose_b = options.flag("transpose-b");
  request.alpha = options.number("alpha");
  request.drop_below = options.number("drop-below");
  request.semiring = options.parsed("semiring", parse_semiring);
  if (options.given("value-kind")) {
    request.value_kind = options.parsed("value-kind", parse_value_kind);
  }
  if (options.given("output-kind")) {
    request.output_kind = options.parsed("output-kind", parse_value_kind);
  }
  request.plan.deterministic = !options.flag("nondeterministic");
  if (options.given("memory-limit")) {
    request.plan.memory_limit_bytes = options.bytes("memory-limit");
  }
  return request;
}

SpgemmOutcome run_spgemm(const SpgemmKernel& kernel, const CsrMatrix& a, const CsrMatrix& b,
                         const std::optional<CsrMatrix>& mask, const SpgemmRequest& request) {
  SpgemmOutcome outcome;
  outcome.problem = make_problem(a, b, mask, request);
  if (request.measures_reuse && !kernel.can(kReuse)) {
    throw UsageError(std::string(kernel.name) + " cannot do --reuse");
  }
  PlanOptions plan_options = request.plan;
  // A rival runs as its makers made it: held to determinism it does not offer, it could not run.
  if (kernel.role == Role::vendor && !kernel.can(kDeterministic)) {
    plan_options.deterministic = false;
  }
  outcome.is_deterministic = kernel.can(kDeterministic);
  const std::unique_ptr<SpgemmPlan> plan = kernel.make_plan(outcome.problem, plan_options);
  if (request.measures_reuse) plan->expect_new_values();
  outcome.forecast = plan->forecast();
  outcome.choice = plan->choice();
  outcome.phases = plan->phases();
  if (request.forecast_only) return outcome;

  outcome.has_run = true;
  multiply_once(*plan, request, outcome);
  outcome.choice = plan->choice();
  outcome.peak_bytes = outcome.phases.peak_bytes;
  outcome.cost = spgemm_cost(outcome.problem, static_cast<Offset>(outcome.forecast.products),
                             outcome.phases.output_nnz);
  if (!outcome.passed()) return outcome;

  const StoppingRule rule =
      request.stop ? *request.stop : StoppingRule{request.repeat, 0, request.repeat, 0};
  const auto before_each = [&] {
    if (request.between_samples) request.between_samples();
    if (request.is_cold) plan->evict_caches();
  };
  outcome.samples = measure(
      request.warmup, rule, [&] { return plan->time_multiply(); }, before_each);
  if (request.measures_reuse) {
    outcome.numeric_samples = measure(
        request.warmup, rule, [&] { return plan->time_numeric(); }, before_each);
  }
  const SpgemmPhases phases = plan->phases();
  outcome.peak_bytes = phases.peak_bytes;
  if (request.measures_reuse) {
    outcome.choice = plan->choice();
    outcome.reuse_peak_bytes = phases.reuse_peak_bytes;
    outcome.structure_seconds = phases.structure_seconds;
  }
  return outcome;
}

Json to_json(const SpgemmOutcome& outcome) {
  const SpgemmProblem& problem = outcome.problem;
  const auto shape = [](const CsrMatrix& matrix) {
    return Json{{"rows", matrix.rows()},
                {"cols", matrix.cols()},
                {"nnz", matrix.nnz()},
                {"kind", name_of(matrix.value_kind())}};
  };
  Json json{{"a", shape(problem.a)},
            {"b", shape(problem.b)},
            {"b_is_a", problem.b_is_a()},
            {"transpose_b", problem.transpose_b},
            {"mask", problem.mask ? shape(*problem.mask) : Json(nullptr)},
            {"alpha", problem.alpha},
            {"drop_below", problem.drop_below},
            {"semiring", name_of(problem.semiring)},
            {"products", outcome.forecast.products},
            {"deterministic", outcome.is_deterministic},
            {"choice", outcome.choice}};
  json["forecast"] = {{"output_nnz_bound", outcome.forecast.output_nnz_bound},
                      {"output_bytes_bound", outcome.forecast.output_bytes_bound},
                      {"whole_bytes", outcome.forecast.whole_bytes},
                      {"peak_bytes", outcome.forecast.peak_bytes},
                      {"reuse_bytes", outcome.forecast.reuse_bytes}};
  if (!outcome.has_run) return json;
  json["c"] = {{"rows", problem.output_rows()},
               {"cols", problem.output_cols()},
               {"nnz", outcome.phases.output_nnz},
               {"kind", name_of(problem.c)},
               {"bytes", outcome.output_bytes()}};
  json["compression"] = outcome.cost.compression;
  const auto add_samples = [&](const std::string& prefix, const Samples& samples) {
    if (samples.seconds.empty()) return;
    json[prefix + "samples_seconds"] = samples.seconds;
    json[prefix + "median_seconds"] = samples.median_seconds();
    json[prefix + "min_seconds"] = samples.min_seconds();
    json[prefix + "spread"] = samples.spread();
  };
  add_samples("", outcome.samples);
  add_samples("numeric_", outcome.numeric_samples);
  if (!outcome.samples.seconds.empty()) json["gflops"] = outcome.gflops();
  json["cost"] = {{"flops", outcome.cost.flops}, {"minimum_bytes", outcome.cost.minimum_bytes}};
  json["phases"] = {{"upload_seconds", outcome.phases.upload_seconds},
                    {"analysis_seconds", outcome.phases.analysis_seconds},
                    {"symbolic_seconds", outcome.phases.symbolic_seconds},
                    {"numeric_seconds", outcome.phases.numeric_seconds},
                    {"sort_seconds", outcome.phases.sort_seconds},
                    {"output_seconds", outcome.phases.output_seconds},
                    {"row_blocks", outcome.phases.row_blocks}};
  json["peak_bytes"] = outcome.peak_bytes;
  json["peak_ratio"] = outcome.peak_ratio();
  if (!outcome.numeric_samples.seconds.empty()) {
    json["reuse_peak_bytes"] = outcome.reuse_peak_bytes;
    json["structure_seconds"] = outcome.structure_seconds;
  }
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

}  // namespace csrkit

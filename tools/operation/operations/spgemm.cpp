#include "tools/operation/operations/spgemm.h"

#include <algorithm>

#include "api/rooms.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/team.h"
#include "core/facts/matrix_stats.h"
#include "cpu/common/kernels.h"
#include "tools/cli/log.h"
#include "tools/operation/operations/output_sink.h"

namespace csrkit {

namespace {

std::string shape_words(Index rows, Index cols) {
  return counted(rows, "row") + " and " + counted(cols, "column");
}

/// As require_legal, by the names of the files.
void require_shapes_fit(const Operands& operands, const Request& request) {
  const CsrMatrix &a = operands.a, &b = operands.b;
  const bool is_transposed = request.transpose;
  if (a.cols() != (is_transposed ? b.cols() : b.rows())) {
    const bool is_alone = operands.a_name == operands.b_name;
    throw UsageError(
        operands.a_name + " has " + shape_words(a.rows(), a.cols()) +
        (is_alone ? ": its product with itself needs as many rows as columns; multiply by its "
                    "transpose instead (--transpose-b; in csr-bench and csr-forecast --transpose)"
                  : ", " + operands.b_name + " " + shape_words(b.rows(), b.cols()) +
                        ": the second needs as many " + (is_transposed ? "columns" : "rows") +
                        " as the first has columns; are the two in the right order?"));
  }
  const Index output_cols = is_transposed ? b.rows() : b.cols();
  if (operands.mask &&
      (operands.mask->rows() != a.rows() || operands.mask->cols() != output_cols)) {
    throw UsageError("--mask '" + request.mask + "' has " +
                     shape_words(operands.mask->rows(), operands.mask->cols()) +
                     ": it needs those of C, " + shape_words(a.rows(), output_cols));
  }
}

std::string count(double number) { return with_commas(static_cast<std::int64_t>(number)); }
std::string size(std::uint64_t bytes) { return readable_bytes(static_cast<double>(bytes)); }

class SpgemmRun : public Run {
 public:
  SpgemmRun(SpgemmProblem problem, std::unique_ptr<SpgemmPlan> plan, const Request& request)
      : problem_(std::move(problem)), plan_(std::move(plan)) {
    if (request.measures_reuse) plan_->expect_new_values();
    forecast_ = plan_->forecast();
    describe_forecast();
    if (request.is_forecast_only) return;
    multiply_once(request);
    describe_product();
  }

  Plan& plan() override { return *plan_; }
  double time() override { return plan_->time_multiply(); }

  void complete(const Request& request, Outcome* of) override {
    if (request.measures_reuse) {
      const Samples samples = Run::samples(request, [&] { return plan_->time_numeric(); });
      const SpgemmPhases phases = plan_->phases();
      add_samples(&of->facts, "numeric_", samples);
      of->facts["structure_seconds"] = phases.structure_seconds;
      of->facts["reuse_peak_bytes"] = phases.reuse_peak_bytes;
      of->choice = plan_->choice();
      of->lines.emplace_back("structure", readable_seconds(phases.structure_seconds));
      of->lines.emplace_back("numeric, reused structure",
                             readable_seconds(samples.median_seconds()));
      if (phases.reuse_peak_bytes > 0) {
        of->lines.emplace_back("memory, reused structure", size(phases.reuse_peak_bytes));
      }
    }
    set_peak(plan_->phases().peak_bytes, of);
  }

 private:
  /// The first product: made, checked, and written if it is right. It is gone when this returns.
  void multiply_once(const Request& request) {
    std::optional<CheckOptions> check;
    if (request.check != CheckKind::none) check = check_options(request.check);
    OutputSink sink(problem_, request.output, check);
    plan_->multiply(sink);
    first_ = plan_->phases();
    sink.finish(request.beside_output, terminal_progress());
    outcome.check = sink.check();
  }

  void describe_forecast() {
    Json facts = shape_of(problem_.a);
    facts["kinds"] =
        kinds_of(problem_.a.value_kind(), problem_.b.value_kind(), problem_.c, problem_.accumulate);
    facts["b"] = shape_of(problem_.b);
    facts["b_is_a"] = problem_.b_is_a();
    facts["transpose_b"] = problem_.transpose_b;
    facts["mask"] = problem_.mask ? shape_of(*problem_.mask) : Json(nullptr);
    facts["alpha"] = problem_.alpha;
    facts["drop_below"] = problem_.drop_below;
    facts["semiring"] = name_of(problem_.semiring);
    if (!problem_.sorts_rows) facts["unsorted"] = true;
    facts["products"] = count_json(forecast_.products);
    facts["forecast"] = {{"output_nnz_bound", forecast_.output_nnz_bound},
                         {"output_bytes_bound", forecast_.output_bytes_bound},
                         {"whole_bytes", forecast_.whole_bytes},
                         {"peak_bytes", forecast_.peak_bytes},
                         {"reuse_bytes", forecast_.reuse_bytes}};
    outcome.facts = facts;
    outcome.lines.emplace_back(
        "forecast", count(forecast_.products) + " " + noun_for(forecast_.products, "product") +
                        ", at most " + with_commas(forecast_.output_nnz_bound, "entry") + ", " +
                        size(forecast_.whole_bytes) + " for A, B, C and workspace; " +
                        size(forecast_.peak_bytes) + " within the limit");
    if (forecast_.reuse_bytes > 0) {
      outcome.lines.emplace_back(
          "forecast, reused structure",
          size(forecast_.reuse_bytes) + " for all that and what new values want");
    }
  }

  void describe_product() {
    const SpgemmCost cost =
        spgemm_cost(problem_, static_cast<Offset>(forecast_.products), first_.output_nnz);
    const std::uint64_t c_bytes = csr_bytes(problem_.output_rows(), first_.output_nnz, problem_.c);
    outcome.has_run = true;
    outcome.facts["c"] = {{"rows", problem_.output_rows()},
                          {"cols", problem_.output_cols()},
                          {"nnz", first_.output_nnz},
                          {"bytes", c_bytes},
                          {"row_blocks", first_.row_blocks}};
    outcome.facts["compression"] = cost.compression;
    outcome.cost = {{"flops", cost.flops}, {"minimum_bytes", cost.minimum_bytes}};
    outcome.phases = first_.named();
    outcome.columns = {{"rows", with_commas(problem_.output_rows())},
                       {"nnz(A)", with_commas(problem_.a.nnz())},
                       {"products", count(forecast_.products)},
                       {"nnz(C)", with_commas(first_.output_nnz)},
                       {"products/nnz(C)", fixed(cost.compression, 2)}};
    set_peak(first_.peak_bytes, &outcome);
  }

  void set_peak(std::uint64_t bytes, Outcome* of) const {
    const std::uint64_t c_bytes = csr_bytes(problem_.output_rows(), first_.output_nnz, problem_.c);
    const double ratio =
        static_cast<double>(bytes) / static_cast<double>(operand_bytes(problem_) + c_bytes);
    of->peak_bytes = bytes;
    of->facts["peak_ratio"] = ratio;
    of->memory_note = ", " + fixed(ratio, 2) + " times A, B and C; " +
                      with_commas(first_.row_blocks, "block") + " of rows";
  }

  SpgemmProblem problem_;
  std::unique_ptr<SpgemmPlan> plan_;
  SpgemmForecast forecast_;  // before the first product
  SpgemmPhases first_;       // of the first product
};

OperationFacts spgemm_facts() {
  return {
      "spgemm",
      kSpgemmEverything | kUnsortedRows,
      /*is_tunable=*/false,
      {".csr"},
      {{"reuse", "", "also time the numeric phase alone (same structure, new values)"},
       {"forecast", "", "say what the product will take, and stop"},
       {"output", "C.csr", "write C, if --check is given only after it passed"},
       {"transpose-b", "", "op(B) is the transpose of B; without B.csr, C = A * A^T"},
       {"mask", "M.csr", "keep only the positions that this matrix stores"},
       {"drop-below", "X", "leave out entries of C whose absolute value is below this", "0"},
       {"alpha", "X", "C = alpha * A * op(B)", "1"},
       {"unsorted", "",
        "of kernels that can: rows of C whose columns are in any order, the same in every run; "
        "what "
        "--output gets is sorted"},
       {"output-kind", "KIND", "kind of C, f32 or f64: where neither A nor B has values"},
       {"memory-limit", "SIZE",
        "most memory for A, B, C and their product (on a GPU: of its memory), e.g. 512M or 8G; C "
        "is made in blocks of rows if it takes more; the program, its buffers and the check of a "
        "block come on top"}},
      {{"reuse", "",
        "of spgemm kernels that can: also time the numeric phase alone (same structure, new "
        "values)"},
       {"unsorted", "",
        "of spgemm: rows of C whose columns are in any order; kernels that cannot are failures"}},
      {{"bound", "",
        "bound the size of the result instead of counting it, which is as much work as the "
        "product"},
       {"memory-limit", "SIZE", "as it will be given to the product"}}};
}

class SpgemmOperation : public TypedOperation<Spgemm> {
 public:
  explicit SpgemmOperation(KernelSource<Spgemm> source) : TypedOperation(spgemm_facts(), source) {}

  ToolPage page(const std::string& room) const override {
    return {"A.csr [B.csr]",
            2,
            "Multiplies two sparse matrices on a " + std::string(room == kGpu ? "GPU" : "CPU") +
                " (A with itself without B.csr), checks the sparse result and reports the "
                "throughput.",
            {{"graph.csr --check", "A * A, checked and measured"},
             {"graph.csr --transpose-b --mask graph.csr --output common.csr",
              "A * A^T where A has entries: what neighbours have in common"},
             {"graph.csr --forecast --json", "what it would take, without doing it"}}};
  }

  void read_options(const Options& options, Request* request) const override {
    request->measures_reuse = options.flag("reuse");
    request->is_forecast_only = options.flag("forecast");
    if (request->is_forecast_only &&
        (!request->output.empty() || request->check != CheckKind::none)) {
      throw UsageError("--forecast makes no product: leave out --output and --check");
    }
    request->transpose = options.flag("transpose-b");
    request->mask = options.text("mask");
    request->drop_below = options.number_from("drop-below", 0);
    request->sorts_rows = !options.flag("unsorted");
  }

  Json problem_key(const Operands&, const Request& request) const override {
    return {{"transpose", request.transpose}, {"semiring", name_of(request.semiring)}};
  }

  std::vector<Request> bench_requests(const Options& options,
                                      const Request& shared) const override {
    Request request = shared;
    request.measures_reuse = options.flag("reuse");
    request.sorts_rows = !options.flag("unsorted");
    return {request};
  }
  void write_case(const Request& request, Json* identity) const override {
    if (request.measures_reuse) (*identity)["reuse"] = true;
    if (!request.sorts_rows) (*identity)["unsorted"] = true;
  }
  void read_case(const JsonField& identity, Request* request) const override {
    if (const auto reuse = identity.find("reuse")) request->measures_reuse = reuse->boolean();
    if (const auto unsorted = identity.find("unsorted")) request->sorts_rows = !unsorted->boolean();
  }

  std::vector<Forecast> forecasts(const ForecastQuery& query,
                                  const Options& options) const override {
    const SpgemmProblem problem = problem_of(query.operands, query.request);
    const CsrMatrix &a = problem.a, &b = problem.b;
    PlanOptions plan_options = query.request.plan;
    if (options.given("memory-limit")) {
      plan_options.memory_limit_bytes = options.bytes("memory-limit");
    }
    Forecast forecast;
    forecast.matrix_bytes = a.size_bytes();
    forecast.is_output_bounded = options.flag("bound");
    const Offset output_nnz = forecast.is_output_bounded
                                  ? -1
                                  : spgemm_output_nnz(a, problem.transpose_b ? transpose(b) : b);
    if (query.room == kGpu && query.is_host_only && output_nnz >= 0) {
      forecast.output_bytes = csr_bytes(problem.output_rows(), output_nnz, problem.c);
      forecast.host_bytes = operand_bytes(problem) + forecast.output_bytes;
      if (problem.transpose_b) forecast.host_bytes += csr_bytes(b.cols(), b.nnz(), b.value_kind());
      return {forecast};
    }
    if (query.room == kGpu) {
      const SpgemmForecast plan = gpu_room()->forecast_spgemm(
          query.kernel->name, problem, output_nnz, plan_options.memory_limit_bytes);
      forecast.output_bytes = plan.output_bytes_bound;
      forecast.plan_bytes = plan.peak_bytes;
      // The host holds the operands as they are uploaded, B's transpose among them, and then C.
      forecast.host_bytes = operand_bytes(problem) + plan.output_bytes_bound;
      if (problem.transpose_b) forecast.host_bytes += csr_bytes(b.cols(), b.nnz(), b.value_kind());
      return {forecast};
    }
    const SpgemmForecast plan = typed(*query.kernel).make_plan(problem, plan_options)->forecast();
    forecast.output_bytes = plan.output_bytes_bound;
    forecast.host_bytes = plan.peak_bytes;
    if (output_nnz >= 0) {
      forecast.output_bytes = csr_bytes(problem.output_rows(), output_nnz, problem.c);
      forecast.host_bytes = std::min(
          forecast.host_bytes, plan.whole_bytes - plan.output_bytes_bound + forecast.output_bytes);
    }
    // With many threads the C library keeps some of what one product freed when the next one
    // begins: never blocks of 32 MiB or more, which go back to the system, and never seen with up
    // to 8.
    constexpr int kFewThreads = 8;
    constexpr std::uint64_t kKeptBytes = 32ull << 20;
    if (team_size(plan_options.where.threads) > kFewThreads) {
      forecast.host_bytes += std::min(forecast.output_bytes, kKeptBytes);
    }
    return {forecast};
  }

 protected:
  SpgemmProblem problem_of(const Operands& operands, const Request& request) const override {
    require_shapes_fit(operands, request);
    SpgemmProblem problem = default_spgemm_problem(operands.a, operands.b, request.transpose);
    problem.mask = operands.mask;
    problem.alpha = request.alpha;
    problem.drop_below = request.drop_below;
    problem.sorts_rows = request.sorts_rows;
    problem.semiring = request.semiring;
    if (request.output_kind) problem.c = problem.accumulate = *request.output_kind;
    require_legal(problem);
    return problem;
  }

  void require_runnable(const KernelInfo& kernel, const SpgemmProblem&,
                        const Request& request) const override {
    if (request.measures_reuse && !kernel.can(kReuse)) {
      throw UsageError(std::string(kernel.name) + " cannot do --reuse");
    }
  }

  std::unique_ptr<Run> start(SpgemmProblem problem, std::unique_ptr<SpgemmPlan> plan,
                             const Request& request) const override {
    return std::make_unique<SpgemmRun>(std::move(problem), std::move(plan), request);
  }
};

}  // namespace

const Operation& spgemm_operation() {
  static const SpgemmOperation operation({&cpu::spgemm_kernels, &gpu::Face::spgemm_kernels});
  return operation;
}

std::unique_ptr<Operation> make_spgemm_operation(KernelSource<Spgemm> source) {
  return std::make_unique<SpgemmOperation>(source);
}

}  // namespace csrkit

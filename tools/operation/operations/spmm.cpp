#include "tools/operation/operations/spmm.h"

#include <cstring>

#include "api/rooms.h"
#include "core/base/available_memory.h"
#include "core/base/counted.h"
#include "core/facts/matrix_stats.h"
#include "core/file/npy_file.h"
#include "cpu/common/kernels.h"
#include "tools/operation/operands/dense_io.h"
#include "tools/operation/operations/out_of_core.h"
#include "tools/operation/operations/spmm_words.h"
#include "tools/operation/product/dense_operation.h"

namespace csrkit {

namespace {

std::uint64_t dense_bytes(Index rows, Index cols, ValueKind kind) {
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) *
         static_cast<std::uint64_t>(size_of(kind));
}

/// Of a matrix without padding.
DenseMatrix copy_of(const ConstDenseView& dense) {
  DenseMatrix copy(dense.rows, dense.cols, dense.kind);
  if (copy.size_bytes() > 0) std::memcpy(copy.view().data, dense.data, copy.size_bytes());
  return copy;
}

class SpmmRun : public Run {
 public:
  SpmmRun(SpmmProblem problem, std::unique_ptr<SpmmPlan> plan, const Request& request)
      : problem_(std::move(problem)),
        plan_(std::move(plan)),
        alpha_(request.alpha),
        beta_(request.beta),
        b_(request.input, problem_.input_rows(), problem_.dense_cols, problem_.b,
           request.dense_kind.has_value(), request.seed, may_map(request)),
        c_(request.output, problem_.output_rows(), problem_.dense_cols, problem_.c,
           may_map(request) && beta_ == 0) {
    std::optional<DenseMatrix> c_before;
    if (beta_ != 0) {
      fill_random(c_.view(), request.seed + 1);
      c_before = copy_of(c_.view());
    } else if (!c_.is_mapped()) {
      fill_nan(c_.view());  // an element that a kernel forgets to write must not look right
    }
    plan_->bind(b_.view(), c_.view());
    plan_->multiply(alpha_, beta_);
    plan_->fetch_output();

    describe();
    if (request.check != CheckKind::none) {
      const ConstDenseView c0 = c_before ? std::as_const(*c_before).view() : ConstDenseView{};
      outcome.check = check_spmm(problem_, b_.view(), alpha_, beta_, c_before ? &c0 : nullptr,
                                 c_.view(), check_options(request.check));
    }
    if (outcome.passed() && !request.output.empty()) c_.write(request.output);
  }

  Plan& plan() override { return *plan_; }
  double time() override { return plan_->time_multiply(alpha_, beta_); }
  void complete(const Request&, Outcome* of) override {
    of->peak_bytes = plan_->phases().peak_bytes;
    describe_copies(of);
  }

 private:
  void describe() {
    describe_product(problem_.a, problem_.dense_cols, spmm_cost(problem_), plan_->phases(),
                     &outcome);
    outcome.facts["kinds"] =
        kinds_of(problem_.a.value_kind(), problem_.b, problem_.c, problem_.accumulate);
    if (const auto bytes = static_cast<double>(plan_->stored_bytes()); bytes > 0) {
      outcome.cost.emplace_back("stored_bytes", bytes);
    }
    describe_copies(&outcome);
  }

  /// Of a plan out of core.
  void describe_copies(Outcome* of) const {
    const auto* plan = dynamic_cast<const OutOfCoreSpmm*>(plan_.get());
    if (plan != nullptr) add_copies(plan->report(), b_.is_mapped(), c_.is_mapped(), of);
  }

  /// Only where products are made out of core are operands used in their files.
  static bool may_map(const Request& request) { return request.out_of_core != OutOfCore::never; }

  SpmmProblem problem_;
  std::unique_ptr<SpmmPlan> plan_;
  double alpha_, beta_;
  DenseOperand b_;
  DenseResult c_;
};

/// SpMM, and SpMV: the same with one column, and without the option that says how many.
class SpmmOperation : public DenseOperation<Spmm> {
 public:
  SpmmOperation(OperationFacts facts, KernelSource<Spmm> source, bool is_spmv)
      : DenseOperation(std::move(facts), source), is_spmv_(is_spmv) {}

  ToolPage page(const std::string& room) const override {
    return is_spmv_ ? spmv_page(room) : spmm_page(room);
  }

  std::vector<OptionRow> room_options(const std::string& room) const override {
    return is_spmv_ || room != kGpu ? std::vector<OptionRow>{} : out_of_core_options();
  }

  void read_room_options(const Options& options, const std::string& room,
                         Request* request) const override {
    if (room_options(room).empty()) return;
    read_out_of_core(options, request);
  }

  void read_options(const Options& options, Request* request) const override {
    request->input = options.text("input");
    request->dense_cols = is_spmv_ ? 1 : dense_cols_of(options, request->input);
    request->input_kind = kind_of_input(request->input);
    request->seed = options.seed();
    request->beta = options.number("beta");
    if (options.given("seed") && !request->input.empty() && request->beta == 0) {
      throw UsageError("--seed has no effect: --input gives all of " +
                       std::string(is_spmv_ ? "x" : "B") + ", and --beta is 0");
    }
    request->transpose = options.flag("transpose");
    request->dense_kind = read_kind(options, "dense-kind");
  }

  Json problem_key(const Operands& operands, const Request& request) const override {
    const SpmmProblem problem = problem_of(operands, request);
    return {{"dense_cols", problem.dense_cols},
            {"kinds",
             {{"a", name_of(problem.a.value_kind())},
              {"b", name_of(problem.b)},
              {"c", name_of(problem.c)}}},
            {"transpose", problem.transpose_a},
            {"semiring", name_of(problem.semiring)}};
  }

  std::vector<Forecast> forecasts(const ForecastQuery& query,
                                  const Options& options) const override {
    const Request shared = request_of(query, options);
    const RowReadTimes times(query);
    std::vector<Forecast> forecasts;
    for (const Request& request : bench_requests(options, shared)) {
      const SpmmProblem problem = problem_of(query.operands, request);
      Forecast forecast = forecast_of(query, request, problem);
      if (!forecast.out_of_core) {
        forecast.seconds = times.seconds(problem.dense_cols, problem.b);
      }
      forecasts.push_back(forecast);
    }
    return forecasts;
  }

 protected:
  std::vector<Index> widths(const Options& options) const override {
    return is_spmv_ ? std::vector<Index>{1} : DenseOperation::widths(options);
  }

  SpmmProblem problem_of(const Operands& operands, const Request& request) const override {
    SpmmProblem problem = default_spmm_problem(operands.a, is_spmv_ ? 1 : request.dense_cols);
    problem.transpose_a = request.transpose;
    problem.semiring = request.semiring;
    if (const auto kind =
            dense_kind_of(problem.a.value_kind(), request.dense_kind, request.input_kind)) {
      set_dense_kind(&problem, *kind);
    }
    if (request.output_kind) problem.c = *request.output_kind;
    require_legal(problem);
    return problem;
  }

  void require_runnable(const KernelInfo& kernel, const SpmmProblem& problem,
                        const Request& request) const override {
    require_multipliable(problem.semiring, kernel.capabilities, problem.accumulate, request.alpha,
                         request.beta);
    // Large operands in files are used there, where products may be made out of core.
    const bool maps = request.out_of_core != OutOfCore::never;
    std::uint64_t b_bytes = dense_bytes(problem.input_rows(), problem.dense_cols, problem.b);
    std::uint64_t c_bytes = dense_bytes(problem.output_rows(), problem.dense_cols, problem.c);
    if (maps && !request.input.empty() && is_worth_mapping(b_bytes)) b_bytes = 0;
    if (maps && !request.output.empty() && request.beta == 0 &&
        MappedNpyOutput::can_map(problem.c) && is_worth_mapping(c_bytes)) {
      c_bytes = 0;
    }
    require_available_memory(b_bytes + c_bytes * (request.beta != 0 ? 2 : 1),
                             "holding the dense operands",
                             maps ? "use a smaller --dense-cols, or name files for B and C, which "
                                    "are then used where they lie"
                                  : "use a smaller --dense-cols");
  }

  std::unique_ptr<SpmmPlan> make_plan(const SpmmKernel& kernel, const SpmmProblem& problem,
                                      const PlanOptions& options,
                                      const Request& request) const override {
    if (request.out_of_core != OutOfCore::never) {
      auto plan =
          gpu_room()->make_out_of_core_spmm(kernel.name, problem, options, request.out_of_core,
                                            request.most_panel_cols, request.is_panel_major);
      if (plan) return plan;
    }
    return TypedOperation::make_plan(kernel, problem, options, request);
  }

  std::unique_ptr<Run> start(SpmmProblem problem, std::unique_ptr<SpmmPlan> plan,
                             const Request& request) const override {
    return std::make_unique<SpmmRun>(std::move(problem), std::move(plan), request);
  }

 private:
  /// With what options of csr-forecast say of the product; csr-bench has none of these.
  Request request_of(const ForecastQuery& query, const Options& options) const {
    Request request = query.request;
    if (query.is_host_only || is_spmv_) return request;
    if (options.given("memory-limit")) {
      request.plan.memory_limit_bytes = options.bytes("memory-limit");
    }
    if (query.room == kGpu) {
      read_out_of_core(options, &request);
      return request;
    }
    for (const OptionRow& row : out_of_core_options()) {
      if (options.given(row.long_name())) {
        throw UsageError("--" + row.long_name() + " is for --device gpu");
      }
    }
    return request;
  }

  /// Of memory, and of time where that follows from it.
  Forecast forecast_of(const ForecastQuery& query, const Request& request,
                       const SpmmProblem& problem) const {
    const CsrMatrix& a = query.operands.a;
    Forecast forecast;
    forecast.dense_cols = problem.dense_cols;
    forecast.matrix_bytes = a.size_bytes();
    forecast.output_bytes = dense_bytes(problem.output_rows(), problem.dense_cols, problem.c);
    forecast.host_bytes = a.size_bytes() + forecast.output_bytes +
                          dense_bytes(problem.input_rows(), problem.dense_cols, problem.b);
    if (query.room != kGpu) {
      const auto plan = typed(*query.kernel).make_plan(problem, request.plan);
      forecast.host_bytes += plan->phases().peak_bytes;
      return forecast;
    }
    // The transpose is made on the host where the device has no room to sort, beside A.
    if (problem.transpose_a) forecast.host_bytes += csr_bytes(a.cols(), a.nnz(), a.value_kind());
    if (!query.is_host_only) forecast_on_device(query, request, problem, &forecast);
    return forecast;
  }

  /// In core, or cut by the planner of csr-spmm-gpu.
  void forecast_on_device(const ForecastQuery& query, const Request& request,
                          const SpmmProblem& problem, Forecast* forecast) const {
    const gpu::Face& room = *gpu_room();
    const std::string kernel = query.kernel->name;
    const std::uint64_t limit = request.plan.memory_limit_bytes != 0
                                    ? request.plan.memory_limit_bytes
                                    : query.device_memory_bytes;
    const bool is_asked_for =
        request.out_of_core == OutOfCore::columns || request.out_of_core == OutOfCore::rows;
    if (is_asked_for && limit == 0) {
      throw UsageError(std::string("--out-of-core ") + name_of(request.out_of_core) +
                       " is forecast for a device of known memory: give --memory-limit, or the "
                       "profile of a GPU as --machine");
    }
    if (limit > 0 && !is_spmv_) {
      forecast->out_of_core = room.forecast_out_of_core_spmm(
          kernel, problem, limit, request.plan.where.threads, request.out_of_core,
          request.most_panel_cols, request.is_panel_major);
    }
    if (!forecast->out_of_core) {
      forecast->plan_bytes =
          (is_spmv_ ? room.forecast_spmv_bytes : room.forecast_spmm_bytes)(kernel, problem);
      if (limit > 0 && *forecast->plan_bytes > limit) {
        throw MemoryError(
            "the product needs " + counted(*forecast->plan_bytes, "byte") +
            " of device memory, and there are " + counted(limit, "byte") +
            "; raise --memory-limit, or let a kernel work out of core (--out-of-core)");
      }
      return;
    }
    const OutOfCoreReport& report = forecast->out_of_core->report;
    forecast->plan_bytes = report.device_bytes;
    forecast->host_bytes += report.staging_bytes;
    forecast->seconds = report.forecast_seconds;
  }

  bool is_spmv_;
};

}  // namespace

const Operation& spmm_operation() {
  static const SpmmOperation operation(
      spmm_facts(),
      {&cpu::spmm_kernels, &gpu::Face::spmm_kernels, &cpu::spmm_marks, &gpu::Face::spmm_marks},
      /*is_spmv=*/false);
  return operation;
}

const Operation& spmv_operation() {
  static const SpmmOperation operation(spmv_facts(), {&cpu::spmv_kernels, &gpu::Face::spmv_kernels},
                                       /*is_spmv=*/true);
  return operation;
}

std::unique_ptr<Operation> make_spmm_operation(KernelSource<Spmm> source) {
  return std::make_unique<SpmmOperation>(spmm_facts(), source, /*is_spmv=*/false);
}

}  // namespace csrkit

#include "tools/operation/operations/sddmm.h"

#include <cstring>

#include "api/rooms.h"
#include "core/base/available_memory.h"
#include "core/base/counted.h"
#include "core/base/text.h"
#include "core/facts/matrix_stats.h"
#include "core/file/csr_file.h"
#include "core/file/npy_file.h"
#include "cpu/common/kernels.h"
#include "tools/operation/operands/dense_io.h"
#include "tools/operation/product/dense_operation.h"

namespace csrkit {

namespace {

std::uint64_t bytes_of(Offset elements, ValueKind kind) {
  return static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(size_of(kind));
}

/// X and Y.
std::uint64_t operand_bytes(const SddmmProblem& problem) {
  return bytes_of((Offset{problem.a.rows()} + problem.a.cols()) * problem.dense_cols, problem.x);
}

/// A's values in C's kind; ones if it has none.
ValueArray values_of(const CsrMatrix& a, ValueKind kind) {
  const CsrMatrix in_kind = convert_values(a, kind);
  ValueArray values(kind, a.nnz());
  if (a.nnz() > 0) {
    std::memcpy(values.data(), in_kind.values(), bytes_of(a.nnz(), kind));
  }
  return values;
}

class SddmmRun : public Run {
 public:
  SddmmRun(SddmmProblem problem, std::unique_ptr<SddmmPlan> plan, const Request& request)
      : problem_(std::move(problem)),
        plan_(std::move(plan)),
        alpha_(request.alpha),
        beta_(request.beta),
        x_(input_of(request, request.input, problem_.a.rows(), request.seed)),
        y_(input_of(request, request.second_input, problem_.a.cols(), request.seed + 1)),
        c_(beta_ != 0 ? values_of(problem_.a, problem_.c)
                      : ValueArray(problem_.c, problem_.a.nnz())) {
    // An element that a kernel forgets to write must not look right.
    constexpr int kNanByte = 0xff;
    if (beta_ == 0 && c_.size() > 0) {
      std::memset(c_.data(), kNanByte, bytes_of(c_.size(), problem_.c));
    }
    plan_->bind(std::as_const(x_).view(), std::as_const(y_).view(), view());
    plan_->multiply(alpha_, beta_);
    plan_->fetch_output();
    describe();
    if (request.check != CheckKind::none) {
      ValueArray before;
      if (beta_ != 0) before = values_of(problem_.a, problem_.c);
      const ConstValuesView c0{before.data(), problem_.c, before.size()};
      outcome.check =
          check_sddmm(problem_, std::as_const(x_).view(), std::as_const(y_).view(), alpha_, beta_,
                      beta_ != 0 ? &c0 : nullptr, view(), check_options(request.check));
    }
    if (outcome.passed() && !request.output.empty()) write(request);
  }

  Plan& plan() override { return *plan_; }
  double time() override { return plan_->time_multiply(alpha_, beta_); }
  void complete(const Request&, Outcome* of) override {
    of->peak_bytes = plan_->phases().peak_bytes;
  }

 private:
  DenseMatrix input_of(const Request& request, const std::string& path, Index rows,
                       std::uint64_t seed) const {
    return make_dense_input(path, rows, problem_.dense_cols, problem_.x,
                            request.dense_kind.has_value(), seed);
  }

  ValuesView view() { return {c_.data(), problem_.c, c_.size()}; }

  /// C as a matrix, or its values alone where the name says .npy.
  void write(const Request& request) {
    const CsrMatrix& a = problem_.a;
    if (ends_with(lower_case(request.output), ".npy")) {
      write_npy(request.output, {c_.data(), problem_.c, static_cast<Index>(c_.size()), 1, 1});
      return;
    }
    CsrFile file = request.beside_output;
    const std::shared_ptr<const void> nobody;  // A and C outlive the file's matrix
    file.matrix = CsrMatrix(a.rows(), a.cols(), a.row_offsets(), a.col_indices(), problem_.c,
                            c_.data(), nobody);
    write_csr_file(request.output, file);
  }

  void describe() {
    describe_product(problem_.a, problem_.dense_cols, sddmm_cost(problem_), plan_->phases(),
                     &outcome);
    outcome.facts["times_values"] = problem_.multiplies_by_a;
    outcome.facts["kinds"] =
        kinds_of(problem_.a.value_kind(), problem_.x, problem_.c, problem_.accumulate);
  }

  SddmmProblem problem_;
  std::unique_ptr<SddmmPlan> plan_;
  double alpha_, beta_;
  DenseMatrix x_, y_;
  ValueArray c_;
};

OperationFacts sddmm_facts() {
  return {"sddmm",
          kEverySddmm,
          /*is_tunable=*/false,
          {".csr", ".npy"},
          {{"k,dense-cols", "K",
            "columns of X and Y; with --input-x or --input-y, those of the file", "32"},
           {"input-x", "X.npy", "read X, rows x K; otherwise it is random by --seed"},
           {"input-y", "Y.npy", "read Y, cols x K; otherwise it is random by --seed"},
           {"output", "FILE",
            "write C, if --check is given only after it passed: its values to a name that ends in "
            ".npy, else a .csr file"},
           {"seed", "N", "of random operands", "1"},
           {"alpha", "X", "C = alpha * X Y^T + beta * A, where A has entries", "1"},
           {"beta", "X", "see --alpha", "0"},
           {"times-values", "", "multiply X Y^T by A's values, entry by entry"},
           {"dense-kind", "KIND",
            "kind of X and Y (default: A's; if A has none, that of their files, or f32)"},
           {"output-kind", "KIND", "kind of C: that of the sums (the default), or that of X and Y"},
           {"memory-limit", "SIZE", "most memory for the plan, e.g. 512M or 8G"}},
          {},
          {{"k,dense-cols", "LIST", "columns of X and Y", "32,256"},
           {"machine", "FILE.json", "forecast times for this machine profile (see csr-probe)"}}};
}

class SddmmOperation : public DenseOperation<Sddmm> {
 public:
  explicit SddmmOperation(KernelSource<Sddmm> source) : DenseOperation(sddmm_facts(), source) {}

  ToolPage page(const std::string& room) const override {
    return {"MATRIX.csr",
            1,
            "Multiplies two dense matrices where a sparse one has entries (SDDMM) on a " +
                std::string(room == kGpu ? "GPU" : "CPU") +
                ", checks the result and reports the throughput.",
            {{"graph.csr -k 64 --check", "check and measure the default kernel, 64 columns"},
             {"graph.csr -k 32 --times-values --output weighted.csr --check=full",
              "a matrix with A's positions, after every entry of it was checked"},
             {"graph.csr -k 32 --beta 1 --dense-kind bf16 --json",
              "added to A's values, operands of 16 bits, as JSON"}}};
  }

  void read_options(const Options& options, Request* request) const override {
    request->input = options.text("input-x");
    request->second_input = options.text("input-y");
    request->dense_cols =
        dense_cols_of(options, request->input.empty() ? request->second_input : request->input);
    request->input_kind =
        kind_of_input(request->input.empty() ? request->second_input : request->input);
    request->seed = options.seed();
    if (options.given("seed") && !request->input.empty() && !request->second_input.empty()) {
      throw UsageError("--seed has no effect: --input-x and --input-y give X and Y");
    }
    request->beta = options.number("beta");
    request->multiplies_by_a = options.flag("times-values");
    request->dense_kind = read_kind(options, "dense-kind");
  }

  Json problem_key(const Operands& operands, const Request& request) const override {
    const SddmmProblem problem = problem_of(operands, request);
    return {{"dense_cols", problem.dense_cols},
            {"kinds", {{"b", name_of(problem.x)}, {"c", name_of(problem.c)}}},
            {"times_values", problem.multiplies_by_a}};
  }

  std::vector<Forecast> forecasts(const ForecastQuery& query,
                                  const Options& options) const override {
    const RowReadTimes times(query);
    std::vector<Forecast> forecasts;
    for (const Request& request : bench_requests(options, query.request)) {
      const SddmmProblem problem = problem_of(query.operands, request);
      Forecast forecast;
      forecast.dense_cols = problem.dense_cols;
      forecast.matrix_bytes = problem.a.size_bytes();
      forecast.output_bytes = bytes_of(problem.a.nnz(), problem.c);
      forecast.host_bytes = forecast.matrix_bytes + forecast.output_bytes + operand_bytes(problem);
      // A plan on a GPU holds the same things, a number for every entry, and for a moment the row
      // offsets twice.
      if (query.room == kGpu && !query.is_host_only) {
        forecast.plan_bytes = forecast.host_bytes + bytes_of(problem.a.nnz(), ValueKind::f32) +
                              bytes_of(Offset{problem.a.rows()} + 1, ValueKind::f64);
      }
      // The rows of Y are read as SpMM reads those of B; one of X is read where SpMM writes one of
      // C.
      forecast.seconds = times.seconds(problem.dense_cols, problem.x);
      forecasts.push_back(forecast);
    }
    return forecasts;
  }

 protected:
  SddmmProblem problem_of(const Operands& operands, const Request& request) const override {
    if (request.semiring != Semiring::plus_times) {
      throw UsageError(std::string("semiring ") + name_of(request.semiring) +
                       " is not for sddmm, which has plus-times alone");
    }
    if (request.transpose) {
      throw UsageError("--transpose is not for sddmm; transpose A first, and swap X and Y");
    }
    SddmmProblem problem = default_sddmm_problem(operands.a, request.dense_cols);
    problem.multiplies_by_a = request.multiplies_by_a;
    if (const auto kind =
            dense_kind_of(problem.a.value_kind(), request.dense_kind, request.input_kind)) {
      set_dense_kind(&problem, *kind);
    }
    if (request.output_kind) problem.c = *request.output_kind;
    require_legal(problem);
    return problem;
  }

  void require_runnable(const KernelInfo& kernel, const SddmmProblem& problem,
                        const Request& request) const override {
    require_multipliable(Semiring::plus_times, kernel.capabilities, problem.accumulate,
                         request.alpha, request.beta);
    require_available_memory(
        operand_bytes(problem) + bytes_of(problem.a.nnz(), problem.c) * (request.beta != 0 ? 3 : 1),
        "holding X, Y and C", "use a smaller --dense-cols");
    if (ends_with(lower_case(request.output), ".npy") && problem.a.nnz() > kMaxIndex) {
      throw UsageError("--output " + request.output + ": an array here has at most " +
                       std::to_string(kMaxIndex) + " rows, and the matrix has " +
                       counted(problem.a.nnz(), "entry") + "; write a .csr file");
    }
  }

  std::unique_ptr<Run> start(SddmmProblem problem, std::unique_ptr<SddmmPlan> plan,
                             const Request& request) const override {
    return std::make_unique<SddmmRun>(std::move(problem), std::move(plan), request);
  }
};

}  // namespace

const Operation& sddmm_operation() {
  static const SddmmOperation operation({&cpu::sddmm_kernels, &gpu::Face::sddmm_kernels});
  return operation;
}

}  // namespace csrkit

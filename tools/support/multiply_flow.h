// The one way from a matrix and a kernel to a checked, measured product. csr-spmm-cpu, csr-spmm-gpu
// and csr-bench all go through here.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/compare.h"
#include "core/matrix_stats.h"
#include "core/spmm.h"
#include "tools/support/json.h"
#include "tools/support/measure.h"
#include "tools/support/options.h"

namespace csrkit {

enum class CheckKind { none, automatic, full, sampled };

/// What to multiply and how often; everything but the matrix and the kernel.
struct MultiplyRequest {
  Index dense_cols = 32;
  bool transpose_a = false;
  bool measures_reuse = false;  // of sparse products: new values for a known structure, too
  Semiring semiring = Semiring::plus_times;
  std::optional<ValueKind> value_kind;   // convert A first
  std::optional<ValueKind> dense_kind;   // of B; by default A's, f32 if A has none
  std::optional<ValueKind> output_kind;  // of C; by default the accumulation's
  double alpha = 1;
  double beta = 0;
  int warmup = 2;
  StoppingRule stop;                      // how many samples
  std::function<void()> between_samples;  // untimed; watches the clocks of a benchmark
  bool is_cold = false;
  std::uint64_t seed = 1;
  CheckKind check = CheckKind::none;
  std::string input;   // B, "" = random
  std::string output;  // C, "" = nowhere
  PlanOptions plan;
  std::function<void(SpmmPlan&)> on_right;  // given the plan once its product passed, if set
};

struct MultiplyOutcome {
  SpmmProblem problem;
  std::string choice;
  bool is_deterministic = true;  // as the kernel declares itself
  std::optional<CheckResult> check;
  Samples samples;  // empty if the check failed: what is wrong is not timed
  Phases phases;
  SpmmCost cost;

  bool passed() const { return !check || check->passed; }
  double gflops() const;                 // by the median
  double minimum_gb_per_second() const;  // SpmmCost::minimum_bytes by the median
  double gather_gb_per_second() const;   // SpmmCost::gather_bytes by the median
};

/// The options of csr-spmm-cpu and csr-spmm-gpu that a request is made of.
void declare_multiply_options(Options& options);
MultiplyRequest read_multiply_options(const Options& options);
CheckKind parse_check(const Options& options, CheckKind otherwise);

/// `a` in the kind that the request asks for.
CsrMatrix converted(const CsrMatrix& a, const MultiplyRequest& request);

/// The problem that `a`, in the kind asked for, and the request make.
SpmmProblem problem_of(const CsrMatrix& a, const MultiplyRequest& request);

/// Plans, binds, multiplies, checks, writes C, measures - in this order.
MultiplyOutcome run_multiply(const SpmmKernel& kernel, const CsrMatrix& a,
                             const MultiplyRequest& request);

/// Warm-up, then samples by the request's stopping rule, with warm or evicted caches, by a plan whose
/// operands are bound.
Samples measure_plan(SpmmPlan& plan, const MultiplyRequest& request, bool is_cold);

/// Measurements, phases and check of an outcome, the same keys in all reports and records.
Json to_json(const MultiplyOutcome& outcome);

/// "ok, worst error 0.02 of the bound (all rows)", "FAILED: ...", or "not checked".
std::string check_text(const std::optional<CheckResult>& check);

}  // namespace csrkit

// The one way from two matrices and a kernel to a checked, measured sparse product. csr-spgemm-cpu
// and csr-spgemm-gpu go through here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/compare.h"
#include "core/matrix_stats.h"
#include "core/spgemm.h"
#include "tools/support/json.h"
#include "tools/support/measure.h"
#include "tools/support/multiply_flow.h"
#include "tools/support/options.h"

namespace csrkit {

/// What to multiply and how often; everything but the matrices and the kernel.
struct SpgemmRequest {
  bool transpose_b = false;
  double alpha = 1;
  double drop_below = 0;
  Semiring semiring = Semiring::plus_times;
  std::optional<ValueKind> value_kind;   // convert A and B first
  std::optional<ValueKind> output_kind;  // of C; only matrices without values leave a choice
  int warmup = 2;
  int repeat = 10;
  std::optional<StoppingRule> stop;       // instead of `repeat`
  std::function<void()> between_samples;  // untimed; watches the clocks of a benchmark
  bool is_cold = false;
  bool measures_reuse = false;  // the numeric phase alone, too
  bool forecast_only = false;
  CheckKind check = CheckKind::none;
  std::string output;      // C, "" = nowhere
  std::string provenance;  // that goes into it
  PlanOptions plan;
};

struct SpgemmOutcome {
  SpgemmProblem problem;
  std::string choice;
  bool is_deterministic = true;  // as the kernel declares itself
  SpgemmForecast forecast;       // before the first product
  bool has_run = false;          // false after forecast_only
  std::optional<CheckResult> check;
  Samples samples;                     // empty if the check failed: what is wrong is not timed
  Samples numeric_samples;             // of the numeric phase alone
  SpgemmPhases phases;                 // of the first product
  std::uint64_t peak_bytes = 0;        // of all that were made anew
  std::uint64_t reuse_peak_bytes = 0;  // while new values were put into a kept structure
  double structure_seconds = 0;        // what keeping it took, once
  SpgemmCost cost;

  bool passed() const { return !check || check->passed; }
  double gflops() const;  // by the median
  std::uint64_t output_bytes() const;
  /// peak_bytes relative to A + B + C, A counted once if B is A.
  double peak_ratio() const;
};

void declare_spgemm_options(Options& options);
SpgemmRequest read_spgemm_options(const Options& options);

/// Plans, forecasts, multiplies, checks, writes C, measures - in this order. A C that does not fit
/// the memory limit goes to the output file in blocks of rows while it is made, and is removed again
/// if it does not pass the check.
SpgemmOutcome run_spgemm(const SpgemmKernel& kernel, const CsrMatrix& a, const CsrMatrix& b,
                         const std::optional<CsrMatrix>& mask, const SpgemmRequest& request);

/// Measurements, phases, forecast and check of an outcome, the same keys in all reports and records.
Json to_json(const SpgemmOutcome& outcome);

}  // namespace csrkit

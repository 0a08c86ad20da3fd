// auto: ordered rules choose the kernel; the first rule that holds wins.

#include "gpu/spmm/choose.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/base/stopwatch.h"
#include "gpu/device/device_info.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmm/bands_or_bins.h"
#include "gpu/spmm/few_columns.h"
#include "gpu/spmm/likeness.h"
#include "gpu/spmm/panels_or_bins.h"
#include "gpu/spmm/plan.h"
#include "gpu/spmm/windows_or_bins.h"

namespace csrkit::gpu {

namespace {

struct Rule {
  bool holds;
  const char* kernel;
  const char* because;
};

/// Whether C alone is so large that writing it takes time, however few entries A has.
bool writes_much(const SpmmProfile& profile) {
  constexpr double kTimesL2 = 2;
  const double c_bytes =
      static_cast<double>(profile.rows) * static_cast<double>(profile.dense_cols) * profile.b_bytes;
  return c_bytes > kTimesL2 * profile.l2_bytes;
}

/// A small product takes about the same time with any kernel, and panels take longer to make.
bool has_work_for_panels(const SpmmProfile& profile) {
  constexpr Offset kFewEntries = 1'136;  // a multiprocessor
  return profile.nnz >= kFewEntries * profile.multiprocessors || writes_much(profile);
}

/// Whether row_panels is expected to take less time. It looks at A step by step, and no further
/// than the decision needs: A is not in cache, and a look may take as long as a product.
bool panels_pay_after_a_look(const SpmmProblem& problem, SpmmProfile& profile) {
  if (!has_work_for_panels(profile)) return false;
  const EntrySample of_entries = look_at_panels(problem, profile);
  if (!may_have_panels(profile)) return false;
  if (is_unsure(log_panels_over_bins(profile))) {
    look_at_neighbourhood(problem, of_entries, profile);
  }
  return panels_pay(profile);
}

bool bands_pay_after_a_look(const SpmmProblem& problem, const SpmmProfile& profile) {
  const CardRates card = current_card_rates();
  const bool is_able = find_kernel(spmm_kernels(), "column_bands").can(needed_for(problem));
  if (!is_able || !bands_may_pay(profile, card)) return false;
  return bands_pay(profile, sample_for_bands(problem, profile, card), card);
}

// Measured on an H200, see docs/lab/2026-11-22-spmm-h200.md. Once a rule holds, later ones are not
// computed.
std::vector<Rule> rules_for(const SpmmProblem& problem, bool is_off_vectors) {
  const bool is_stencil = stencil_pays(problem);
  const bool in_segments = !is_stencil && segments_pay(problem);
  const bool is_spmm = !is_stencil && !in_segments;
  const double windows_over_bins = is_spmm ? log_windows_over_bins(problem) : 0;
  bool dense = windows_over_bins < 0, shares = false, in_bands = false;
  const bool may_share =
      panels_may_beat_windows(static_cast<int>(size_of(problem.b)), windows_over_bins);
  if (is_spmm && may_share && !has_narrow_operands(problem)) {
    SpmmProfile profile = sizes_of(problem);
    profile.is_off_vectors = is_off_vectors;
    shares = panels_pay_after_a_look(problem, profile);
    dense = dense && !(shares && panels_beat_windows(profile, windows_over_bins));
    in_bands = !dense && !shares && bands_pay_after_a_look(problem, profile);
  }
  return {
      {is_stencil, "spmv.stencil", "few diagonals, well filled, and few columns"},
      {in_segments, "spmv.jagged", "so few columns that a lane takes all of them"},
      {dense, "dense_windows", "dense enough for tensor cores"},
      {shares, "row_panels", "neighbouring rows share columns, or C is written in fewer parts"},
      {in_bands, "column_bands", "rows of A name rows of B in no order, and L2 does not hold B"},
      {true, "row_bins", "no other kernel is expected to be faster"}};
}

/// One column is SpMV, whose kernels know no f32 matrix with operands of 16 bits.
bool is_spmv(const SpmmProblem& problem) {
  return problem.dense_cols == 1 && !has_narrow_operands(problem);
}

/// SpMV has a chooser of its own.
std::unique_ptr<SpmmPlan> make_spmv(const SpmmProblem& problem, const PlanOptions& options) {
  auto plan = find_kernel(spmv_kernels(), "auto").make_plan(problem, options);
  static_cast<OperatorPlan&>(*plan).note_operation("spmv");
  return plan;
}

/// The row of the table that a rule names: "spmv.stencil" is one of SpMV's.
const SpmmKernel& kernel_called(const std::string& name) {
  const std::string spmv = "spmv.";
  if (name.rfind(spmv, 0) == 0) return find_kernel(spmv_kernels(), name.substr(spmv.size()));
  return find_kernel(spmm_kernels(), name);
}

}  // namespace

bool may_have_panels(const SpmmProfile& profile) {
  // row_panels makes sums in 16 bits that are not finite again, one by one.
  return profile.sample.entries > 0 && has_work_for_panels(profile) &&
         (profile.b_bytes != 2 || profile.sample.all_finite);
}

bool panels_pay(const SpmmProfile& profile) {
  if (!may_have_panels(profile)) return false;
  const double counted = log_panels_over_bins(profile);
  return counted + (is_unsure(counted) ? missed_by_formula(profile) : 0) < 0;
}

bool panels_may_beat_windows(int b_bytes, double log_windows_over_bins) {
  // A look takes as long as a plan of windows. In 16 bits panels multiply on tensor cores, too, and
  // may take 0.3 of row_bins' time, in other kinds hardly ever less than 0.7.
  return log_windows_over_bins > (b_bytes == 2 ? -1.2 : -0.4);
}

bool panels_beat_windows(const SpmmProfile& profile, double log_windows_over_bins) {
  // The formula says well which of two kernels is faster, but too little of how much: where it was
  // below 0, the logarithm of what was seen is 1.5 to 3 times as large.
  constexpr double kStretch = 2.3;
  return kStretch * log_panels_over_bins(profile) < log_windows_over_bins;
}

std::unique_ptr<SpmmPlan> make_auto(const SpmmProblem& problem, const PlanOptions& given) {
  const bool is_off_vectors = given.variant == kOffVectors;
  if (!is_off_vectors && !given.variant.empty()) {
    throw UsageError("auto knows no variant '" + given.variant + "'; use " + kOffVectors +
                     " where rows of B or C begin at no multiples of 16 bytes");
  }
  PlanOptions options = given;
  options.variant.clear();  // the kernels have none
  if (is_spmv(problem)) return make_spmv(problem, options);
  const Stopwatch choosing;
  const std::vector<Rule> rules = rules_for(problem, is_off_vectors);
  const double choosing_seconds = choosing.seconds();
  std::string because;
  for (const Rule& rule : rules) {
    if (!rule.holds) continue;
    if (because.empty()) because = rule.because;
    try {
      auto plan = kernel_called(rule.kernel).make_plan(problem, options);
      // Every plan of this room is the one adapter.
      static_cast<OperatorPlan&>(*plan).note_choice(rule.kernel, because, choosing_seconds);
      return plan;
    } catch (const MemoryError&) {
      if (&rule == &rules.back()) throw;
      because = std::string(rule.kernel) + " takes too much memory";
    }
  }
  throw UsageError("no rule holds");  // the last one always does
}

std::string auto_spmm_kernel(const SpmmProblem& problem) {
  if (is_spmv(problem)) return "spmv.auto";
  for (const Rule& rule : rules_for(problem, false)) {
    if (rule.holds) return rule.kernel;
  }
  throw UsageError("no rule holds");
}

}  // namespace csrkit::gpu

// Which kernel runs when the user asks for none: ordered rules, the first that holds wins.

#include <chrono>
#include <string>
#include <vector>

#include "core/matrix_stats.h"
#include "gpu/spmm/plan.h"
#include "gpu/spmm/registry.h"

namespace csrkit::gpu {

namespace {

struct Rule {
  bool holds;
  const char* kernel;
  std::string because;
};

// Measured on an H200, see docs/performance.md. A transposed A has the column lengths for row lengths,
// which cost a pass to know: taken as uneven.
std::vector<Rule> rules_for(const SpmmProblem& problem) {
  const Offset longest =
      problem.transpose_a ? problem.a.nnz() : row_length_profile(problem.a).longest;
  constexpr Offset kTiny = 8;  // such rows are all alike: bins would only shuffle them
  constexpr Index kWideEnough = 64;
  return {
      {longest <= kTiny && problem.dense_cols >= kWideEnough, "nnz_split",
       "longest row " + std::to_string(longest) + " <= " + std::to_string(kTiny)},
      {true, "row_bins", "rows of unequal length, or few columns"},
  };
}

}  // namespace

std::unique_ptr<SpmmPlan> make_auto(const SpmmProblem& problem, const PlanOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  for (const Rule& rule : rules_for(problem)) {
    if (!rule.holds) continue;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    auto plan = find_kernel(spmm_kernels(), rule.kernel).make_plan(problem, options);
    // Every plan of this room is the one adapter.
    static_cast<GpuSpmmPlan&>(*plan).note_choice(rule.kernel, rule.because, taken.count());
    return plan;
  }
  throw UsageError("no rule holds");  // the last one always does
}

}  // namespace csrkit::gpu

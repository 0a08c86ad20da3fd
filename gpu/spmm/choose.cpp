// Which kernel runs when the user asks for none: ordered rules, the first that holds wins.

#include <chrono>
#include <vector>

#include "gpu/spmm/plan.h"
#include "gpu/spmm/registry.h"

namespace csrkit::gpu {

namespace {

struct Rule {
  bool holds;
  const char* kernel;
  const char* because;
};

// Measured on an H200, see docs/performance.md. No rule needs a look at A's rows, which would cost more
// than the analysis of a small matrix.
std::vector<Rule> rules_for(const SpmmProblem&) {
  return {{true, "row_bins", "ahead of the others on every matrix measured"}};
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

std::string auto_spmm_kernel(const SpmmProblem& problem) {
  for (const Rule& rule : rules_for(problem)) {
    if (rule.holds) return rule.kernel;
  }
  throw UsageError("no rule holds");
}

}  // namespace csrkit::gpu

// Which kernel runs when the user asks for none: ordered rules, the first that holds wins.

#include <string>
#include <vector>

#include "gpu/spgemm/plan.h"
#include "gpu/spgemm/registry.h"

namespace csrkit::gpu {

namespace {

struct Rule {
  bool holds;
  const char* kernel;
  std::string because;
};

// What differs between matrices differs between their rows first, so the choice is made per row, in
// gpu/spgemm/row_bins_rules.h. See docs/performance.md.
std::vector<Rule> rules_for(const SpgemmProblem&) {
  return {{true, "row_bins", "it chooses row by row"}};
}

}  // namespace

std::unique_ptr<SpgemmPlan> make_auto(const SpgemmProblem& problem, const PlanOptions& options) {
  for (const Rule& rule : rules_for(problem)) {
    if (!rule.holds) continue;
    auto plan = find_kernel(spgemm_kernels(), rule.kernel).make_plan(problem, options);
    // Every plan of this room is the one adapter.
    static_cast<GpuSpgemmPlan&>(*plan).note_choice(std::string(rule.kernel) + " (because " +
                                                   rule.because + ")");
    return plan;
  }
  throw UsageError("no rule holds");  // the last one always does
}

std::string auto_spgemm_kernel(const SpgemmProblem& problem) {
  for (const Rule& rule : rules_for(problem)) {
    if (rule.holds) return rule.kernel;
  }
  throw UsageError("no rule holds");
}

}  // namespace csrkit::gpu

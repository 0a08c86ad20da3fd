// Which kernel runs when the user asks for none: ordered rules, the first that holds wins.

#include <cstdio>
#include <string>
#include <vector>

#include "gpu/plan/kernels.h"
#include "gpu/spgemm/dense_tiles/dense_tiles.h"
#include "gpu/spgemm/plan.h"

namespace csrkit::gpu {

namespace {

struct Rule {
  bool holds;
  const char* kernel;
  std::string because;
};

double density(const CsrMatrix& matrix) {
  return static_cast<double>(matrix.nnz()) /
         (static_cast<double>(matrix.rows()) * static_cast<double>(matrix.cols()));
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof(text), "%.1f %%", 100 * share);
  return text;
}

/// Spreading B out pays where a row of it is dense enough to be read whole for every entry of A,
/// and A has enough entries to use what was spread. Measured on squares of random matrices on an
/// H200 (docs/results/h200/spgemm.md): the break-even is at 6 % of B's places in f32, whose loads
/// bring twice as many columns, at 10 % in f64. Below some work nothing is worth its launches.
bool pays_spread_out(const SpgemmProblem& problem) {
  constexpr double kLeastOfA = 0.05, kLeastWork = 1 << 28;
  const double least_of_b = problem.c == ValueKind::f64 ? 0.10 : 0.06;
  return why_no_dense_tiles(problem).empty() && density(problem.b) >= least_of_b &&
         density(problem.a) >= kLeastOfA &&
         static_cast<double>(problem.a.nnz()) * problem.output_cols() >= kLeastWork;
}

// What differs between matrices differs between their rows first, so most choices are made per row,
// in gpu/spgemm/adaptive_rows/rules.h.
std::vector<Rule> rules_for(const SpgemmProblem& problem) {
  const bool is_dense = pays_spread_out(problem);
  return {{is_dense, "dense_tiles",
           is_dense ? "B has " + percent(density(problem.b)) + " of its possible entries" : ""},
          {true, "adaptive_rows", "it chooses row by row"}};
}

}  // namespace

std::unique_ptr<SpgemmPlan> make_auto(const SpgemmProblem& problem, const PlanOptions& options) {
  for (const Rule& rule : rules_for(problem)) {
    if (!rule.holds) continue;
    auto plan = find_kernel(spgemm_kernels(), rule.kernel).make_plan(problem, options);
    // Every plan of this room is the one adapter.
    static_cast<GpuSpgemmPlan&>(*plan).note_choice(rule.kernel, rule.because);
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

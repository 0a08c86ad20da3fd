// auto: ordered rules choose the kernel; the first rule that holds wins.

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

/// dense_tiles pays where B's rows are dense enough to be read whole for every entry of A, and A
/// has enough entries to reuse the dense tiles. Measured on squares of random matrices on an H200
/// (docs/results/h200/spgemm.md): the break-even is a density of B of 6 % in f32, whose loads bring
/// twice as many columns, and of 10 % in f64. Small products do not earn its launches: of 10^7
/// multiplications it takes 0.7 to 1.13 of the time of adaptive_rows, of 2 x 10^7 0.8 to 1.03, of
/// 4 x 10^7 0.75 to 0.87 (an H100).
bool pays_spread_out(const SpgemmProblem& problem) {
  constexpr double kLeastOfA = 0.05, kLeastProducts = 1.5e7;
  const double least_of_b = problem.c == ValueKind::f64 ? 0.10 : 0.06;
  return why_no_dense_tiles(problem).empty() && density(problem.b) >= least_of_b &&
         density(problem.a) >= kLeastOfA &&
         static_cast<double>(problem.a.nnz()) * problem.output_cols() * density(problem.b) >=
             kLeastProducts;
}

// Most choices are made per row, in gpu/spgemm/adaptive_rows/rules/rules.h: rows of one matrix
// differ as much as matrices do.
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
    // Every plan of this room is a GpuSpgemmPlan.
    static_cast<GpuSpgemmPlan&>(*plan).note_choice(rule.kernel, rule.because);
    return plan;
  }
  throw UsageError("no rule holds");  // the last rule always holds
}

std::string auto_spgemm_kernel(const SpgemmProblem& problem) {
  for (const Rule& rule : rules_for(problem)) {
    if (rule.holds) return rule.kernel;
  }
  throw UsageError("no rule holds");
}

}  // namespace csrkit::gpu

#include "core/solve/cg_driver.h"

#include <algorithm>
#include <cmath>

namespace csrkit {

namespace {

/// The reduction that a run in f32 aims at: its own rounding hides everything after five digits.
constexpr double kRefinementStep = 1e-5;

/// If a run leaves more than this share of the true residual, no other run is tried.
constexpr double kWorthAnotherRun = 0.5;

bool is_over(const ColumnReport& column) {
  return column.status != SolveStatus::iteration_limit;  // the status of what is still open
}

/// The norms at which the next run may end.
std::vector<double> targets_of_run(const SolveReport& report, const std::vector<double>& norms,
                                   bool is_refined) {
  std::vector<double> targets(norms.size());
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const ColumnReport& column = report.columns[i];
    // Half of what is wanted, so that the rounding of a correction does not cost another step.
    const double step = std::max(column.target_norm / 2, kRefinementStep * norms[i]);
    targets[i] = is_over(column) ? HUGE_VAL : is_refined ? step : column.target_norm;
  }
  return targets;
}

/// What a residual's norm, computed anew, says of a column that is open.
void judge(ColumnReport& column, double norm) {
  column.true_norm = norm;
  if (is_over(column)) return;
  if (!std::isfinite(norm) || !std::isfinite(column.rhs_norm)) {
    column.status = SolveStatus::not_finite;
  } else if (norm <= column.target_norm) {
    column.status = SolveStatus::converged;
  }
}

}  // namespace

SolveReport drive_cg(CgMachine& machine, const SolveProblem& problem, bool is_refined) {
  SolveReport report;
  const std::vector<double> rhs_norms = machine.start();
  std::vector<double> norms = machine.renew_residual();
  report.columns.resize(rhs_norms.size());
  report.history = norms;
  for (std::size_t i = 0; i < rhs_norms.size(); ++i) {
    ColumnReport& column = report.columns[i];
    column.rhs_norm = rhs_norms[i];
    column.target_norm =
        std::max(problem.relative_tolerance * rhs_norms[i], problem.absolute_tolerance);
    column.recurrence_norm = norms[i];
    judge(column, norms[i]);
  }

  const auto is_open = [](const ColumnReport& column) { return !is_over(column); };
  while (report.iterations < problem.limit() &&
         std::any_of(report.columns.begin(), report.columns.end(), is_open)) {
    const std::size_t rows_before = report.history.size();
    const std::vector<ColumnRun> run =
        machine.run(targets_of_run(report, norms, is_refined), problem.limit() - report.iterations,
                    &report.history);
    ++report.runs;
    const std::vector<double> before = norms;
    norms = machine.renew_residual();
    for (std::size_t i = 0; i < run.size(); ++i) {
      ColumnReport& column = report.columns[i];
      if (is_over(column)) continue;
      if (run[i].iterations > 0) column.iterations = report.iterations + run[i].iterations;
      column.recurrence_norm = run[i].norm;
      column.curvature = run[i].curvature;
      judge(column, norms[i]);
      if (is_over(column)) continue;
      if (run[i].end != SolveStatus::converged) {
        column.status = run[i].end;
      } else if (norms[i] > kWorthAnotherRun * before[i]) {
        column.status = SolveStatus::stagnated;
      }
    }
    report.iterations += static_cast<Offset>((report.history.size() - rows_before) /
                                             std::max<std::size_t>(1, norms.size()));
    // A run that found the limit leaves its columns open: the status says so already.
    if (report.history.size() == rows_before) break;
  }
  for (ColumnReport& column : report.columns) {
    if (column.status == SolveStatus::iteration_limit && report.iterations < problem.limit()) {
      column.status = SolveStatus::stagnated;
    }
  }
  return report;
}

}  // namespace csrkit

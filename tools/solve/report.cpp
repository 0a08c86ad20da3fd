#include "tools/solve/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/cli/report.h"

namespace csrkit {

namespace {

std::string key_of(SolveStatus status) {
  std::string key = name_of(status);
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

double relative(double norm, double rhs_norm) { return rhs_norm > 0 ? norm / rhs_norm : norm; }

Json columns_json(const Solution& solution) {
  Json columns = Json::array();
  for (std::size_t i = 0; i < solution.report.columns.size(); ++i) {
    const ColumnReport& column = solution.report.columns[i];
    columns.push_back({{"status", key_of(column.status)},
                       {"iterations", column.iterations},
                       {"rhs_norm", column.rhs_norm},
                       {"target_norm", column.target_norm},
                       {"recurrence_norm", column.recurrence_norm},
                       {"true_norm", solution.residuals[i].norm},
                       {"rounding_norm", solution.residuals[i].rounding}});
  }
  return columns;
}

/// One list per iteration, the first before any.
Json history_json(const SolveReport& report) {
  Json history = Json::array();
  const std::size_t columns = report.columns.size();
  for (std::size_t at = 0; at + columns <= report.history.size(); at += columns) {
    const auto begin = report.history.begin() + static_cast<std::ptrdiff_t>(at);
    history.push_back(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(columns)));
  }
  return history;
}

std::string table_text(const Solution& solution) {
  TextTable table({"right-hand side", "status", "iterations", "|b|", "tolerance",
                   "recurrence's |r|", "true |b - Ax|", "true / |b|"});
  for (std::size_t i = 0; i < solution.report.columns.size(); ++i) {
    const ColumnReport& column = solution.report.columns[i];
    const double norm = solution.residuals[i].norm;
    table.add({std::to_string(i), name_of(column.status), with_commas(column.iterations),
               scientific(column.rhs_norm), scientific(column.target_norm),
               scientific(column.recurrence_norm), scientific(norm),
               scientific(relative(norm, column.rhs_norm))});
  }
  return table.text();
}

void add_system(Report* report, const SolveToolOptions& options, const SolveProblem& problem) {
  report->add("matrix", "matrix", options.generates() ? "generated, dense" : options.matrix);
  report->add("rows", "rows", std::int64_t{problem.rows()});
  const Offset nnz = problem.dense ? Offset{problem.rows()} * problem.rows() : problem.a.nnz();
  report->add("nnz", "nnz", nnz);
  report->add_json("is_dense", problem.dense != nullptr);
  report->add("precision", "precision", name_of(problem.precision));
  report->add("preconditioner", "preconditioner", name_of(problem.preconditioner.kind));
}

void add_times(Report* report, const Solution& solution) {
  const double seconds = solution.samples.median_seconds();
  report->add_seconds("median_seconds", "time", seconds);
  report->add_json("samples_seconds", solution.samples.seconds);
  if (solution.report.iterations > 0) {
    report->add_seconds("iteration_seconds", "per iteration",
                        seconds / static_cast<double>(solution.report.iterations));
  }
  Json phases = Json::object();
  for (const auto& [name, phase_seconds] : solution.phases.named()) {
    phases[name + std::string("_seconds")] = phase_seconds;
    if (phase_seconds <= 0) continue;
    std::string label = name;
    std::replace(label.begin(), label.end(), '_', ' ');
    report->add_line(label, readable_seconds(phase_seconds));
  }
  report->add_json("phases", phases);
  report->add("peak_bytes", "memory", static_cast<std::int64_t>(solution.phases.peak_bytes),
              readable_bytes(static_cast<double>(solution.phases.peak_bytes)));
}

}  // namespace

std::string scientific(double number) {
  if (std::isnan(number)) return "nan";  // whatever its sign
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", number);
  return text;
}

void report_solution(const SolveToolOptions& options, const SolveProblem& problem,
                     const Solution& solution) {
  Report report;
  report.add_text(table_text(solution) + "\n");
  report.add("kernel", "kernel", solution.kernel);
  if (!solution.chosen_kernel.empty()) {
    report.add("kernel_run", "chosen", solution.chosen_kernel);
  }
  add_system(&report, options, problem);
  report.add_json("status", solution.failure.empty() ? "converged" : "failed");
  report.add_json("failure", solution.failure);
  report.add_json("columns", columns_json(solution));
  report.add_json("iterations", solution.report.iterations);
  report.add_json("runs", solution.report.runs);
  report.add_json("residual_history", history_json(solution.report));
  if (solution.report.highest_eigenvalue > 0) {
    const double lowest = solution.report.lowest_eigenvalue;
    const double highest = solution.report.highest_eigenvalue;
    report.add("eigenvalues", "eigenvalues", Json{lowest, highest},
               scientific(lowest) + " to " + scientific(highest) + ", of A scaled by its diagonal");
  }
  if (!solution.choice.empty()) report.add("choice", "choice", solution.choice);
  if (solution.error) {
    report.add("solution_error", "error of x", *solution.error, scientific(*solution.error));
  }
  add_times(&report, solution);
  if (!solution.output.empty()) report.add("output", "output", solution.output);
  for (const auto& [name, value] : solution.place.items()) report.add_json(name, value);
  report.add_json("command_line", options.command_line);
  print(report, options.as_json);
}

}  // namespace csrkit

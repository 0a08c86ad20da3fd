#include "core/solve/cg_driver.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

/// Reduces each norm to what it is asked for, as far as a floor; the recurrence lies about that.
class Script : public CgMachine {
 public:
  Script(double floor, Offset iterations_per_run)
      : floor_(floor), iterations_per_run_(iterations_per_run) {}

  std::vector<double> start() override { return {1}; }
  std::vector<double> renew_residual() override { return {norm_}; }
  std::vector<ColumnRun> run(const std::vector<double>& targets, Offset limit,
                             std::vector<double>* history) override {
    ColumnRun run;
    run.iterations = std::min(limit, iterations_per_run_);
    for (Offset i = 0; i < run.iterations; ++i) history->push_back(targets[0]);
    run.end = fails_with;
    if (run.iterations == limit) run.end = SolveStatus::iteration_limit;
    run.norm = targets[0];
    norm_ = std::max(floor_, targets[0]);
    ++runs;
    return {run};
  }

  SolveStatus fails_with = SolveStatus::converged;
  int runs = 0;

 private:
  double norm_ = 1, floor_;
  Offset iterations_per_run_;
};

SolveProblem problem_with(double tolerance, Offset limit) {
  SolveProblem problem;
  problem.relative_tolerance = tolerance;
  problem.iteration_limit = limit;
  return problem;
}

TEST(CgDriver, BelievesTheTrueResidualOnly) {
  Script honest(0, 10), floored(1e-3, 10);
  const SolveReport solved = drive_cg(honest, problem_with(1e-6, 1000), false);
  EXPECT_EQ(solved.columns[0].status, SolveStatus::converged);
  EXPECT_EQ(solved.iterations, 10);
  EXPECT_EQ(solved.history.size(), 11u);
  const SolveReport stuck = drive_cg(floored, problem_with(1e-6, 1000), false);
  EXPECT_EQ(stuck.columns[0].status, SolveStatus::stagnated);
  EXPECT_EQ(stuck.columns[0].true_norm, 1e-3);
  EXPECT_EQ(floored.runs, 2) << "one more run, to be sure";
}

TEST(CgDriver, RefinementGoesInSteps) {
  Script honest(0, 10);
  const SolveReport report = drive_cg(honest, problem_with(1e-12, 1000), true);
  EXPECT_EQ(report.columns[0].status, SolveStatus::converged);
  EXPECT_EQ(report.runs, 3);
  EXPECT_EQ(report.iterations, 30);
}

TEST(CgDriver, StopsAtTheLimit) {
  Script endless(1, 10);
  const SolveReport report = drive_cg(endless, problem_with(1e-6, 7), false);
  EXPECT_EQ(report.columns[0].status, SolveStatus::iteration_limit);
  EXPECT_EQ(report.iterations, 7);
}

TEST(CgDriver, KeepsTheReasonOfAFailure) {
  Script failing(1, 3);
  failing.fails_with = SolveStatus::indefinite;
  const SolveReport report = drive_cg(failing, problem_with(1e-6, 100), false);
  EXPECT_EQ(report.columns[0].status, SolveStatus::indefinite);
  EXPECT_EQ(report.columns[0].iterations, 3);
  EXPECT_EQ(failing.runs, 1);
}

}  // namespace
}  // namespace csrkit

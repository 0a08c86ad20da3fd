#include "tools/solve/run.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/rooms.h"
#include "core/base/team.h"
#include "core/file/npy_file.h"
#include "core/judge/solution.h"
#include "tools/cli/log.h"
#include "tools/cli/run_tool.h"
#include "tools/operation/machine.h"
#include "tools/operation/operands/dense_io.h"
#include "tools/solve/report.h"
#include "tools/solve/system.h"

namespace csrkit {

namespace {

/// |x - solution| / |solution| per column, the largest of them.
double solution_error(const DenseMatrix& x, const DenseMatrix& solution) {
  double worst = 0;
  for (Index column = 0; column < x.cols(); ++column) {
    double error = 0, size = 0;
    for (Index row = 0; row < x.rows(); ++row) {
      const double expected = solution.view().at(row, column);
      error += std::pow(x.view().at(row, column) - expected, 2);
      size += expected * expected;
    }
    worst = std::max(worst, size > 0 ? std::sqrt(error / size) : std::sqrt(error));
  }
  return worst;
}

/// What a solver calls solved must be so in the eyes of the judge.
std::string contradiction(const SolveReport& report, const std::vector<Residual>& residuals) {
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const ColumnReport& column = report.columns[i];
    const bool is_solved = residuals[i].norm <= column.target_norm + 2 * residuals[i].rounding;
    if (column.status != SolveStatus::converged || is_solved) continue;
    return "right-hand side " + std::to_string(i) + " is said to be solved, but its residual is " +
           scientific(residuals[i].norm) + ", the tolerance " + scientific(column.target_norm);
  }
  return {};
}

void solve_repeatedly(const SolveToolOptions& options, System* system, Solver* solver,
                      Solution* solution) {
  const DenseMatrix guess =
      options.repeat > 1 ? convert_dense(system->x, system->x.kind()) : DenseMatrix();
  for (int run = 0; run < options.repeat; ++run) {
    if (run > 0) system->x = convert_dense(guess, guess.kind());
    solver->bind(std::as_const(system->b).view(), system->x.view());
    solution->samples.seconds.push_back(solver->time_multiply());
    solution->report = solver->report();
  }
  solver->fetch_output();
}

/// A preconditioner may find that the matrix is not definite: of which file is known here.
std::unique_ptr<Solver> make_solver(const SolveToolOptions& options, const System& system,
                                    const Kernel<Solve>& kernel) {
  require_solvable(system.problem, options.matrix_name(), options.plan.where.threads);
  try {
    return kernel.make_plan(system.problem, options.plan);
  } catch (const VerifyError& error) {
    throw VerifyError(options.matrix_name() + ": " + error.what());
  }
}

/// Reports of several machines are told apart by it.
Json place_of_solve(const SolveToolOptions& options) {
  const Execution& where = options.plan.where;
  Json gpu;
  if (options.room == kGpu) gpu = to_json(gpu_room()->device_info(where.device));
  return {{"threads", team_size(where.threads)}, {"cpu", cpu_model()}, {"gpu", gpu}};
}

int solve(const SolveToolOptions& options, const Kernel<Solve>& kernel) {
  System system = read_system(options);
  const auto solver = make_solver(options, system, kernel);
  Solution solution;
  solution.kernel = options.room + ".solve." + kernel.name;
  log_debug("kernel: " + solution.kernel +
            (solver->chosen_kernel().empty() ? "" : ", which runs " + solver->chosen_kernel()) +
            (solver->choice().empty() ? "" : ": " + solver->choice()));
  solve_repeatedly(options, &system, solver.get(), &solution);
  solution.choice = solver->choice();
  solution.chosen_kernel = solver->chosen_kernel();
  solution.phases = solver->phases();
  solution.place = place_of_solve(options);
  solution.residuals = residuals_of(system.problem, std::as_const(system.b).view(),
                                    std::as_const(system.x).view(), options.plan.where.threads);
  if (system.solution) solution.error = solution_error(system.x, *system.solution);
  solution.failure = failure_of(solution.report);
  if (solution.failure.empty()) {
    solution.failure = contradiction(solution.report, solution.residuals);
  }
  if (!options.output.empty()) {
    solution.output = solution.failure.empty() ? options.output : options.best_iterate;
    write_npy(solution.output, std::as_const(system.x).view());
  }
  report_solution(options, system.problem, solution);
  if (solution.failure.empty()) return kExitDone;
  log_error(options.matrix_name() + ": " + solution.failure +
            (solution.output.empty() ? "" : "; the best iterate is in " + solution.output));
  return kExitCheckFailed;
}

}  // namespace

int run_solve_tool(const char* room, int argc, const char* const* argv) {
  const std::string tool = std::string("csr-solve-") + room;
  return run_tool(tool.c_str(), [&] {
    const SolveToolOptions options = parse_solve_options(tool, room, argc, argv);
    const Kernel<Solve>& kernel = find_kernel(solvers_of(room, tool), options.kernel);
    // A GPU that is not there is said before a large file is read in vain.
    log_debug("runs on " + device_name(room, options.plan.where));
    return solve(options, kernel);
  });
}

}  // namespace csrkit

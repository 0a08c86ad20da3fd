// What csr-solve-<room> says about a solution.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/judge/solution.h"
#include "tools/cli/json.h"
#include "tools/operation/product/measure.h"
#include "tools/solve/options.h"

namespace csrkit {

struct Solution {
  std::string kernel, choice, chosen_kernel;
  SolveReport report;
  Samples samples;  // seconds of each solve, transfers excluded
  Phases phases;
  std::vector<Residual> residuals;  // of the judge
  std::optional<double> error;      // |x - solution| / |solution|, where the solution is known
  std::string output;               // where x or the best iterate is, "" = nowhere
  std::string failure;              // "" = solved
  Json place;                       // cpu, threads, gpu, as in the cases of csr-bench
};

std::string scientific(double number);  // 1.23e-09

void report_solution(const SolveToolOptions& options, const SolveProblem& problem,
                     const Solution& solution);

}  // namespace csrkit

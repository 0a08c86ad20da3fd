#include "core/judge/projections.h"

#include <omp.h>

#include <algorithm>

#include "core/base/team_errors.h"
#include "core/judge/compare_parts.h"

namespace csrkit {

bool Projection::is_finite() const { return std::isfinite(dot) && std::isfinite(absolute); }

UnprojectedRows compare_projections(Index rows,
                                    const std::function<ProjectedRow(Index row)>& project,
                                    const std::function<std::string(Index row)>& note,
                                    Findings& findings) {
  UnprojectedRows unprojected;
  const auto append = [](const std::vector<Index>& from, std::vector<Index>& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  const auto compare = [&](Index row, UnprojectedRows& mine, double& worst) {
    const ProjectedRow of = project(row);
    const bool is_expected_finite = of.expected.is_finite();
    if (!is_expected_finite || !of.found.is_finite()) {
      const bool is_on_both_sides = is_expected_finite == of.found.is_finite();
      return (is_on_both_sides ? mine.on_both_sides : mine.on_one_side).push_back(row);
    }
    const double error = std::fabs(of.found.dot - of.expected.dot);
    if (error > 0) worst = std::max(worst, error / of.bound);
    if (!(error <= of.bound)) {
      findings.fail(row, 0,
                    "row " + std::to_string(row) + " times a random vector of signs: expected " +
                        text_of(of.expected.dot) + ", found " + text_of(of.found.dot) +
                        ", error bound " + text_of(of.bound) + note(row));
    }
  };
  TeamErrors errors;
#pragma omp parallel
  {
    UnprojectedRows mine;
    double worst = 0;
#pragma omp for schedule(dynamic, 64)
    for (Index row = 0; row < rows; ++row) {
      errors.guard([&] { compare(row, mine, worst); });
    }
    findings.merge_ratio(worst);
#pragma omp critical(csrkit_compare_rows)
    errors.guard([&] {
      append(mine.on_one_side, unprojected.on_one_side);
      append(mine.on_both_sides, unprojected.on_both_sides);
    });
  }
  errors.rethrow();
  // Threads add their rows in any order.
  std::sort(unprojected.on_one_side.begin(), unprojected.on_one_side.end());
  std::sort(unprojected.on_both_sides.begin(), unprojected.on_both_sides.end());
  return unprojected;
}

}  // namespace csrkit

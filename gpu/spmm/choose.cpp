// Which kernel runs when the user asks for none: ordered rules, the first that holds wins.

#include <chrono>
#include <string>
#include <vector>

#include "core/matrix_stats.h"
#include "gpu/spmm/plan.h"
#include "gpu/spmm/registry.h"

namespace csrkit::gpu {

namespace {

struct Rule {
  bool holds;
  const char* kernel;
  std::string because;
};

std::vector<Rule> rules_for(const SpmmProblem& problem) {
  // A transposed A has the column lengths for row lengths, which cost a pass: taken as uneven.
  const Offset longest =
      problem.transpose_a ? problem.a.nnz() : row_length_profile(problem.a).longest;
  const Offset b_row_bytes = Offset{problem.dense_cols} * size_of(problem.b);
  constexpr Offset kShort = 32;   // one step of a warp: nothing to balance, nothing to cut
  constexpr Offset kNarrow = 64;  // bytes; fewer lanes than that has 16 bytes for idle in nnz_split
  constexpr Offset kModerate = 512;  // a row that one group of lanes finishes while others work
  const std::string longest_row = "longest row " + std::to_string(longest);
  return {
      {longest <= kShort, "row_split", longest_row + " <= " + std::to_string(kShort)},
      {b_row_bytes <= kNarrow && longest <= kModerate, "row_split",
       "rows of B have " + std::to_string(b_row_bytes) + " bytes <= " + std::to_string(kNarrow) +
           ", " + longest_row + " <= " + std::to_string(kModerate)},
      {true, "nnz_split",
       problem.transpose_a ? "row lengths of the transposed A are not known before"
                           : longest_row + " > " + std::to_string(kShort)},
  };
}

}  // namespace

std::unique_ptr<SpmmPlan> make_auto(const SpmmProblem& problem, const PlanOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  for (const Rule& rule : rules_for(problem)) {
    if (!rule.holds) continue;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    auto plan = find_kernel(spmm_kernels(), rule.kernel).make_plan(problem, options);
    // Every plan of this room is the one adapter.
    static_cast<GpuSpmmPlan&>(*plan).note_choice(
        std::string(rule.kernel) + " (because " + rule.because + ")", taken.count());
    return plan;
  }
  throw UsageError("no rule holds");  // the last one always does
}

}  // namespace csrkit::gpu

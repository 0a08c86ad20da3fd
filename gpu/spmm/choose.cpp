// Which kernel runs when the user asks for none: ordered rules, the first that holds wins.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "gpu/spmm/plan.h"
#include "gpu/spmm/registry.h"
#include "gpu/spmm/row_panels_lists.h"

namespace csrkit::gpu {

namespace {

struct Rule {
  bool holds;
  const char* kernel;
  const char* because;
};

/// How many columns the rows of a panel have, which begins at row `row` of A.
Offset distinct_columns(const CsrMatrix& a, Offset row) {
  const Index *next[kPanelRows], *end[kPanelRows];
  for (int r = 0; r < kPanelRows; ++r) {
    next[r] = a.col_indices() + a.row_offsets()[row + r];
    end[r] = a.col_indices() + a.row_offsets()[row + r + 1];
  }
  for (Offset distinct = 0;; ++distinct) {
    Index lowest = kMaxIndex;  // no column is
    for (int r = 0; r < kPanelRows; ++r) {
      if (next[r] != end[r]) lowest = std::min(lowest, *next[r]);
    }
    if (lowest == kMaxIndex) return distinct;
    for (int r = 0; r < kPanelRows; ++r) next[r] += next[r] != end[r] && *next[r] == lowest ? 1 : 0;
  }
}

// Panels pay where so many entries share a column.
constexpr double kWorthPanels = 2.5;

/// How many entries of neighbouring rows have one column in common: entries over distinct columns in
/// panels of kPanelRows rows. From a sample of A on the host, microseconds whatever A's size, so that
/// only the chosen kernel's analysis has to run. Panels of long rows are left out of it.
double sampled_sharing(const CsrMatrix& a) {
  constexpr std::uint64_t kPanels = 128;
  constexpr Offset kAFew = 512, kEnough = 2048, kLongest = 2048;
  constexpr double kFar = 0.5;  // from kWorthPanels: more of the sample would not carry it across
  Offset entries = 0, distinct = 0;
  const auto sharing = [&] {
    return distinct == 0 ? 1 : static_cast<double>(entries) / static_cast<double>(distinct);
  };
  const auto panels = static_cast<std::uint64_t>(a.rows() / kPanelRows);
  for (std::uint64_t i = 1; i <= std::min(kPanels, panels) && entries < kEnough; ++i) {
    // Multiples of the golden ratio: evenly spread, wherever the loop ends.
    const std::uint64_t panel = ((i * 0x9e3779b97f4a7c15u) >> 32) * panels >> 32;
    const auto row = static_cast<Offset>(panel) * kPanelRows;
    const Offset size = a.row_offsets()[row + kPanelRows] - a.row_offsets()[row];
    if (size > kLongest) continue;
    entries += size;
    distinct += distinct_columns(a, row);
    if (entries >= kAFew && std::abs(sharing() - kWorthPanels) > kFar) break;
  }
  return sharing();
}

// Measured on an H200, see docs/performance.md.
std::vector<Rule> rules_for(const SpmmProblem& problem) {
  // The rows of A^T are nowhere on the host, and below this size nothing is won that a launch would not
  // take.
  constexpr Offset kWorthALook = 200'000;
  const double sharing =
      problem.transpose_a || problem.a.nnz() < kWorthALook ? 1 : sampled_sharing(problem.a);
  return {{sharing >= kWorthPanels, "row_panels", "neighbouring rows have most columns in common"},
          {true, "row_bins", "ahead of the others where they have not"}};
}

}  // namespace

std::unique_ptr<SpmmPlan> make_auto(const SpmmProblem& problem, const PlanOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Rule> rules = rules_for(problem);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  for (const Rule& rule : rules) {
    if (!rule.holds) continue;
    try {
      auto plan = find_kernel(spmm_kernels(), rule.kernel).make_plan(problem, options);
      // Every plan of this room is the one adapter.
      static_cast<GpuSpmmPlan&>(*plan).note_choice(rule.kernel, rule.because, taken.count());
      return plan;
    } catch (const MemoryError&) {  // lists of panels take more room than A
      if (&rule == &rules.back()) throw;
    }
  }
  throw UsageError("no rule holds");  // the last one always does
}

std::string auto_spmm_kernel(const SpmmProblem& problem) {
  for (const Rule& rule : rules_for(problem)) {
    if (rule.holds) return rule.kernel;
  }
  throw UsageError("no rule holds");
}

}  // namespace csrkit::gpu

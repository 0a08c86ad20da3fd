// Which kernel runs when the user asks for none: ordered rules, the first that holds wins.

#include <algorithm>
#include <chrono>
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

/// How many entries of neighbouring rows have one column in common: entries over distinct columns in
/// panels of kPanelRows rows. From a sample of A on the host, tens of microseconds whatever A's size, so
/// that only the chosen kernel's analysis has to run. Panels of long rows are left out of it.
double sampled_sharing(const CsrMatrix& a) {
  constexpr std::uint64_t kPanels = 128;
  constexpr Offset kEnough = 4096, kLongest = 2048;
  constexpr int kLog2Slots = 14;  // so never more than 3/8 full
  static_assert(kEnough + kLongest <= 3 << kLog2Slots >> 3, "there is always a free slot");
  std::vector<std::uint64_t> seen(std::size_t{1} << kLog2Slots);  // panel and column
  Offset entries = 0, distinct = 0;
  const auto panels = static_cast<std::uint64_t>(a.rows() / kPanelRows);
  for (std::uint64_t i = 1; i <= std::min(kPanels, panels) && entries < kEnough; ++i) {
    // Multiples of the golden ratio: evenly spread, wherever the loop ends.
    const std::uint64_t panel = ((i * 0x9e3779b97f4a7c15u) >> 32) * panels >> 32;
    const auto row = static_cast<Offset>(panel) * kPanelRows;
    const Offset begin = a.row_offsets()[row], end = a.row_offsets()[row + kPanelRows];
    if (end - begin > kLongest) continue;
    entries += end - begin;
    for (Offset at = begin; at < end; ++at) {
      const std::uint64_t key = i << 32 | static_cast<std::uint32_t>(a.col_indices()[at]);
      std::size_t slot = key * 0x9e3779b97f4a7c15u >> (64 - kLog2Slots);
      while (seen[slot] != 0 && seen[slot] != key) slot = (slot + 1) % seen.size();
      if (seen[slot] == key) continue;
      seen[slot] = key;
      ++distinct;
    }
  }
  return distinct == 0 ? 1 : static_cast<double>(entries) / static_cast<double>(distinct);
}

// Measured on an H200, see docs/performance.md.
std::vector<Rule> rules_for(const SpmmProblem& problem) {
  // The rows of A^T are nowhere on the host, and below this size nothing is won that a launch would not
  // take.
  constexpr Offset kWorthALook = 200'000;
  const double sharing =
      problem.transpose_a || problem.a.nnz() < kWorthALook ? 1 : sampled_sharing(problem.a);
  return {{sharing >= 2.5, "row_panels", "neighbouring rows have most columns in common"},
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

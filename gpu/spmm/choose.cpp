// Which kernel runs when the user asks for none: ordered rules, the first that holds wins.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/stopwatch.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmm/dense_windows/dense_windows.h"
#include "gpu/spmm/dense_windows/windows.h"
#include "gpu/spmm/plan.h"
#include "gpu/spmm/row_panels/lists.h"

namespace csrkit::gpu {

namespace {

struct Rule {
  bool holds;
  const char* kernel;
  const char* because;
};

/// Counts different columns, panel by panel. A column whose place another one takes in the meantime
/// is counted again: in panels of 1,000 entries that happens to one in twenty. Looking for the
/// lowest in four sorted rows would be exact, and ten times as long, as nobody can foretell which
/// row has it.
class ColumnCounter {
 public:
  void start_panel() { panel_ += 0x85ebca6bu; }
  bool is_new(Index col) {
    const std::uint32_t hash = static_cast<std::uint32_t>(col) * 0x9e3779b1u;
    std::uint32_t& place = last_[hash >> 20];
    const std::uint32_t key = hash + panel_;
    return std::exchange(place, key) != key;
  }

 private:
  std::array<std::uint32_t, 4096> last_ = {};
  std::uint32_t panel_ = 0;
};

constexpr Index kNarrowB = 64;

/// What a sample of panels has.
struct Panels {
  Offset entries = 0;
  Offset distinct = 0;  // columns, panel by panel
  Offset places = 0;    // entries, if all rows of a panel were as long as its longest

  /// How many entries of neighbouring rows have one column in common.
  double sharing() const {
    return distinct == 0 ? 1 : static_cast<double>(entries) / static_cast<double>(distinct);
  }
  /// From how much sharing on panels pay (docs/lab/2026-11-22-spmm-h200.md): the wider B, the more
  /// lanes share what an entry of a list costs; where rows are of unlike lengths, row_bins has the
  /// short ones in strips.
  double worth(Index dense_cols) const {
    constexpr double kWide = 1.65, kNarrow = 1.8, kUneven = 2.5, kEven = 0.8;
    if (static_cast<double>(entries) < kEven * static_cast<double>(places)) return kUneven;
    return dense_cols > kNarrowB ? kWide : kNarrow;
  }
};

/// From a sample of A on the host, microseconds whatever A's size, so that only the chosen kernel's
/// analysis has to run. Panels of long rows are left out of it.
bool are_worth_panels(const CsrMatrix& a, Index dense_cols) {
  constexpr std::uint64_t kPanels = 128;
  constexpr Offset kAFew = 512, kEnough = 2048, kLongest = 2048;
  constexpr double kFar = 0.4;  // from what pays: more of the sample would not carry it across
  Panels seen;
  ColumnCounter counter;
  const auto panels = static_cast<std::uint64_t>(a.rows() / kPanelRows);
  const auto first_row_of = [&](std::uint64_t i) {
    // Multiples of the golden ratio: evenly spread, wherever the loop ends.
    const std::uint64_t panel = ((i * 0x9e3779b97f4a7c15u) >> 32) * panels >> 32;
    return static_cast<Offset>(panel) * kPanelRows;
  };
  // A is in no cache: asked for so many panels ahead, its lines come at once instead of one by one.
  constexpr std::uint64_t kOffsetsAhead = 16, kColumnsAhead = 8;
  const auto ask_for_offsets = [&](std::uint64_t i) {
    const Offset* of_row = a.row_offsets() + first_row_of(i);
    __builtin_prefetch(of_row);
    __builtin_prefetch(of_row + kPanelRows);
  };
  const auto ask_for_columns = [&](std::uint64_t i) {
    constexpr Offset kLine = 64 / sizeof(Index), kMostLines = 8;  // the processor thinks of more
    const Offset* of_row = a.row_offsets() + first_row_of(i);
    const Offset end = std::min(of_row[kPanelRows], of_row[0] + kLine * kMostLines);
    for (Offset at = of_row[0]; at < end; at += kLine) __builtin_prefetch(a.col_indices() + at);
  };
  for (std::uint64_t i = 1; i <= kOffsetsAhead && panels > 0; ++i) ask_for_offsets(i);
  for (std::uint64_t i = 1; i <= kColumnsAhead && panels > 0; ++i) ask_for_columns(i);
  for (std::uint64_t i = 1; i <= std::min(kPanels, panels) && seen.entries < kEnough; ++i) {
    ask_for_offsets(i + kOffsetsAhead);
    ask_for_columns(i + kColumnsAhead);
    const Offset row = first_row_of(i);
    const Offset size = a.row_offsets()[row + kPanelRows] - a.row_offsets()[row];
    if (size > kLongest) continue;
    seen.entries += size;
    counter.start_panel();
    for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + kPanelRows]; ++at) {
      seen.distinct += counter.is_new(a.col_indices()[at]) ? 1 : 0;
    }
    Offset longest = 0;
    for (Index r = 0; r < kPanelRows; ++r) {
      longest = std::max(longest, a.row_length(static_cast<Index>(row) + r));
    }
    seen.places += longest * kPanelRows;
    if (seen.entries >= kAFew && std::abs(seen.sharing() - seen.worth(dense_cols)) > kFar) break;
  }
  return seen.sharing() >= seen.worth(dense_cols);
}

/// How many entries a window has where there are most of them: in the fullest row of tiles, and
/// there in the fullest quarter of the columns, which is what a block works on at K = 32 in a
/// matrix of 4,000 columns. From the row offsets, one a tile, and a sample of the columns.
double fullest_window(const CsrMatrix& a, const WindowShape& shape) {
  constexpr Offset kSample = 512, kQuarters = 4;
  const Offset* offsets = a.row_offsets();
  Offset begin = 0, size = 0;
  for (Offset row = 0; row < a.rows(); row += kTileRows) {
    const Offset here = offsets[std::min<Offset>(row + kTileRows, a.rows())] - offsets[row];
    if (here <= size) continue;
    begin = offsets[row];
    size = here;
  }
  Offset hits[kQuarters] = {};
  const Offset sample = std::min(kSample, size);
  for (Offset i = 0; i < sample; ++i) {
    ++hits[a.col_indices()[begin + size * i / sample] * kQuarters / a.cols()];
  }
  const Offset most = *std::max_element(std::begin(hits), std::end(hits));
  return static_cast<double>(size * most * kQuarters) /
         static_cast<double>(std::max(sample, Offset{1}) * shape.windows);
}

/// Microseconds of an H200 (docs/lab/2026-11-22-spmm-h200.md), and what counts is where the two
/// lines meet. Rounds of windows take longer where a block has many entries to put in their places,
/// the narrower the tile the more. Gathering, an entry takes some time whatever the number of
/// columns.
struct WindowCosts {
  double start, round, thousand_entries;  // in a window, above the first
};
constexpr WindowCosts kWide = {15.5, 2.4, 0.17}, kHalf = {12.4, 1.3, 0.24},
                      kQuarter = {10.6, 0.95, 0.36};

double gather_microseconds(const SpmmSizes& sizes) {
  constexpr double kStart = 3, kEntry = 4.4e-6, kProduct = 0.286e-6;
  return kStart + static_cast<double>(sizes.nnz) * (kEntry + kProduct * sizes.dense_cols);
}

double window_microseconds(const WindowShape& shape, double entries) {
  const WindowCosts& costs = shape.tile_cols == 128  ? kWide
                             : shape.tile_cols == 64 ? kHalf
                                                     : kQuarter;
  const Offset rounds = (shape.units() + kWindowBlocks - 1) / kWindowBlocks;
  const double crowd = std::max(entries / 1000 - 1, 0.0);
  return costs.start + (costs.round + costs.thousand_entries * crowd) * static_cast<double>(rounds);
}

/// Whether the host can look at the rows of op(A).
bool rows_are_on_host(const SpmmProblem& problem) {
  return !problem.transpose_a && problem.a.space() == MemorySpace::host;
}

/// Whether the work of a dense matrix takes tensor cores less time than gathering takes.
bool is_dense(const SpmmProblem& problem) {
  constexpr Offset kLongRows = 4 * kFewestEntries;  // shorter ones are not for tensor cores
  if (problem.b != ValueKind::f32 || problem.semiring != Semiring::plus_times) return false;
  SpmmSizes sizes = {problem.a.rows(), problem.a.cols(), problem.a.nnz(), problem.dense_cols};
  if (problem.transpose_a) std::swap(sizes.rows, sizes.cols);
  if (sizes.nnz == 0 || sizes.nnz < kLongRows * sizes.rows) return false;
  const WindowShape shape(sizes);
  const double gather = gather_microseconds(sizes);
  const double mean =
      static_cast<double>(sizes.nnz) / static_cast<double>(shape.row_tiles * shape.windows);
  if (window_microseconds(shape, mean) >= gather) return false;
  // No look is needed where even full windows would do.
  const bool pays = !rows_are_on_host(problem) ||
                    window_microseconds(shape, kTileRows * kWindowCols) < gather ||
                    window_microseconds(shape, fullest_window(problem.a, shape)) < gather;
  return pays && why_no_dense_windows(problem).empty();
}

/// Whether a sample of A's rows has few diagonals, well filled. Up to eight columns B and C are what
/// moves then: where A is a few numbers and a bit an entry, it need not be read.
bool is_stencil(const SpmmProblem& problem) {
  constexpr Index kMostColumns = 8;
  constexpr std::size_t kMostDiagonals = 64;
  constexpr Offset kSample = 512;
  if (problem.dense_cols > kMostColumns || problem.a.nnz() == 0) return false;
  if (!rows_are_on_host(problem)) return false;
  const CsrMatrix& a = problem.a;
  const Offset sample = std::min<Offset>(kSample, a.rows());
  std::set<Index> diagonals;
  Offset entries = 0;
  for (Offset i = 0; i < sample; ++i) {
    const Offset row = i * a.rows() / sample;
    for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
      diagonals.insert(static_cast<Index>(a.col_indices()[at] - row));
      ++entries;
      if (diagonals.size() > kMostDiagonals) return false;
    }
  }
  return 2 * entries >= sample * static_cast<Offset>(diagonals.size());
}

// Measured on an H200, see docs/lab/2026-11-22-spmm-h200.md.
std::vector<Rule> rules_for(const SpmmProblem& problem) {
  // Below these sizes panels are too few to fill the machine.
  constexpr Offset kWorthALook = 200'000, kWorthALookIfNarrow = 700'000;
  const bool dense = is_dense(problem);
  const Offset worth_a_look = problem.dense_cols > kNarrowB ? kWorthALook : kWorthALookIfNarrow;
  const bool looks = !dense && rows_are_on_host(problem) && problem.a.nnz() >= worth_a_look;
  const bool shares = looks && are_worth_panels(problem.a, problem.dense_cols);
  return {{is_stencil(problem), "spmv.stencil", "few diagonals, well filled, and few columns"},
          {dense, "dense_windows", "dense enough for tensor cores"},
          {shares, "row_panels", "neighbouring rows have most columns in common"},
          {true, "row_bins", "ahead of the others where they have not"}};
}

/// One column is SpMV, whose chooser looks for itself.
std::unique_ptr<SpmmPlan> make_spmv(const SpmmProblem& problem, const PlanOptions& options) {
  auto plan = find_kernel(spmv_kernels(), "auto").make_plan(problem, options);
  static_cast<OperatorPlan&>(*plan).note_operation("spmv");
  return plan;
}

/// The row of the table that a rule names: "spmv.stencil" is one of SpMV's.
const SpmmKernel& kernel_called(const std::string& name) {
  const std::string spmv = "spmv.";
  if (name.rfind(spmv, 0) == 0) return find_kernel(spmv_kernels(), name.substr(spmv.size()));
  return find_kernel(spmm_kernels(), name);
}

}  // namespace

std::unique_ptr<SpmmPlan> make_auto(const SpmmProblem& problem, const PlanOptions& options) {
  if (problem.dense_cols == 1) return make_spmv(problem, options);
  const Stopwatch choosing;
  const std::vector<Rule> rules = rules_for(problem);
  const double choosing_seconds = choosing.seconds();
  std::string because;
  for (const Rule& rule : rules) {
    if (!rule.holds) continue;
    if (because.empty()) because = rule.because;
    try {
      auto plan = kernel_called(rule.kernel).make_plan(problem, options);
      // Every plan of this room is the one adapter.
      static_cast<OperatorPlan&>(*plan).note_choice(rule.kernel, because, choosing_seconds);
      return plan;
    } catch (const MemoryError&) {
      if (&rule == &rules.back()) throw;
      because = std::string(rule.kernel) + " takes too much memory";
    }
  }
  throw UsageError("no rule holds");  // the last one always does
}

std::string auto_spmm_kernel(const SpmmProblem& problem) {
  if (problem.dense_cols == 1) return "spmv.auto";
  for (const Rule& rule : rules_for(problem)) {
    if (rule.holds) return rule.kernel;
  }
  throw UsageError("no rule holds");
}

}  // namespace csrkit::gpu

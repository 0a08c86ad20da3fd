// Which kernel runs when the user asks for none: ordered rules, the first that holds wins.

#include "gpu/spmm/choose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/base/stopwatch.h"
#include "gpu/device/device_info.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmm/column_bands/column_bands.h"
#include "gpu/spmm/dense_windows/dense_windows.h"
#include "gpu/spmm/dense_windows/windows.h"
#include "gpu/spmm/likeness.h"
#include "gpu/spmm/panels_or_bins.h"
#include "gpu/spmm/plan.h"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu {

namespace {

struct Rule {
  bool holds;
  const char* kernel;
  const char* because;
};

/// Whether C alone is work, however few entries A has.
bool writes_much(const SpmmProfile& profile) {
  constexpr double kTimesL2 = 2;
  const double c_bytes =
      static_cast<double>(profile.rows) * static_cast<double>(profile.dense_cols) * profile.b_bytes;
  return c_bytes > kTimesL2 * profile.l2_bytes;
}

/// Little work takes its time whatever runs, and panels take longer to be made.
bool has_work_for_panels(const SpmmProfile& profile) {
  constexpr Offset kFewEntries = 1'136;  // a multiprocessor
  return profile.nnz >= kFewEntries * profile.multiprocessors || writes_much(profile);
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

/// Thousands of clock cycles (docs/lab/2026-11-22-spmm-h200.md), and what counts is where the two
/// lines meet. Rounds of windows, one on every multiprocessor, take longer where a block has many
/// entries to put in their places, the narrower the tile the more.
struct WindowCosts {
  double start, round, thousand_entries;  // in a window, above the first
};
constexpr WindowCosts kWide = {30.7, 4.75, 0.34}, kHalf = {24.6, 2.57, 0.48},
                      kQuarter = {21.0, 1.88, 0.71};

double window_kilocycles(const WindowShape& shape, double entries, int multiprocessors) {
  const WindowCosts& costs = shape.tile_cols == 128  ? kWide
                             : shape.tile_cols == 64 ? kHalf
                                                     : kQuarter;
  // A multiprocessor has one block at a time.
  const Offset turns = (kWindowBlocks + multiprocessors - 1) / multiprocessors;
  const Offset rounds = turns * ((shape.units() + kWindowBlocks - 1) / kWindowBlocks);
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
  const int multiprocessors = current_multiprocessors();
  // Of row_bins today: 41 columns take as long as 64, 200 as 256, but 602 1.16 times as long as 640
  // would (docs/lab/2026-11-27-spmm-few-columns.md).
  constexpr double kInPieces = 1.15;
  constexpr Index kSlice = 64, kVector = 4;
  const bool has_pieces = problem.dense_cols > kSlice && problem.dense_cols % kVector != 0;
  const double gather = gather_kilocycles(sizes, multiprocessors, has_pieces ? kInPieces : 1);
  const auto takes = [&](double entries) {
    return window_kilocycles(shape, entries, multiprocessors);
  };
  const double mean =
      static_cast<double>(sizes.nnz) / static_cast<double>(shape.row_tiles * shape.windows);
  if (takes(mean) >= gather) return false;
  // No look is needed where even full windows would do.
  const bool pays = !rows_are_on_host(problem) || takes(kTileRows * kWindowCols) < gather ||
                    takes(fullest_window(problem.a, shape)) < gather;
  return pays && why_no_dense_windows(problem).empty();
}

/// Whether column_bands can do it, and B is so large that a look is worth its time.
bool bands_may_pay(const SpmmProblem& problem, const SpmmProfile& profile) {
  constexpr Offset kShortMean = 8;
  constexpr double kTimesL2 = 3, kSliceBytes = 256;  // of row_bins, where there are so many
  const double slice = std::min(1.0 * profile.dense_cols * profile.b_bytes, kSliceBytes);
  return find_kernel(spmm_kernels(), "column_bands").can(needed_for(problem)) &&
         profile.cols * slice > kTimesL2 * profile.l2_bytes &&
         profile.nnz > kShortMean * profile.rows && !profile.has_pieces();
}

/// Whether row_panels is expected to take less time. Looks at A step by step, and no further than
/// what is not yet decided needs: A is in no cache, and a look takes as long as some products.
bool panels_pay_after_a_look(const SpmmProblem& problem, SpmmProfile& profile) {
  if (!has_work_for_panels(profile)) return false;
  look_at_panels(problem, profile);
  if (!may_have_panels(profile)) return false;
  if (is_unsure(log_panels_over_bins(profile))) look_at_neighbourhood(problem, profile);
  return panels_pay(profile);
}

bool bands_pay_after_a_look(const SpmmProblem& problem, SpmmProfile& profile) {
  if (!bands_may_pay(problem, profile)) return false;
  const CardRates card = current_card_rates();
  if (!bands_pay(profile, card)) return false;
  profile.bands = sample_for_bands(problem);
  return bands_pay(profile, card);
}

// Measured on an H200, see docs/lab/2026-11-22-spmm-h200.md. What a rule before has taken is asked
// by none behind.
std::vector<Rule> rules_for(const SpmmProblem& problem, bool is_off_vectors) {
  const bool is_stencil = stencil_pays(problem);
  const bool in_segments = !is_stencil && segments_pay(problem);
  const bool dense = !is_stencil && !in_segments && is_dense(problem);
  bool shares = false, in_bands = false;
  if (!is_stencil && !in_segments && !dense && !has_narrow_operands(problem)) {
    SpmmProfile profile = sizes_of(problem);
    profile.is_off_vectors = is_off_vectors;
    shares = panels_pay_after_a_look(problem, profile);
    in_bands = !shares && bands_pay_after_a_look(problem, profile);
  }
  return {
      {is_stencil, "spmv.stencil", "few diagonals, well filled, and few columns"},
      {in_segments, "spmv.jagged", "so few columns that a lane takes all of them"},
      {dense, "dense_windows", "dense enough for tensor cores"},
      {shares, "row_panels", "neighbouring rows share columns, or C is written in fewer parts"},
      {in_bands, "column_bands", "B is larger than L2, and long rows name its rows in no order"},
      {true, "row_bins", "no other kernel is expected to be faster"}};
}

/// One column is SpMV, whose kernels know no f32 matrix with operands of 16 bits.
bool is_spmv(const SpmmProblem& problem) {
  return problem.dense_cols == 1 && !has_narrow_operands(problem);
}

/// Its chooser looks for itself.
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

bool may_have_panels(const SpmmProfile& profile) {
  // Sums that are not finite are made again, one by one.
  return profile.sample.entries > 0 && has_work_for_panels(profile) &&
         (profile.b_bytes != 2 || profile.sample.all_finite);
}

bool panels_pay(const SpmmProfile& profile) {
  if (!may_have_panels(profile)) return false;
  const double counted = log_panels_over_bins(profile);
  return counted + (is_unsure(counted) ? missed_by_formula(profile) : 0) < 0;
}

/// Seconds for 128 bytes of every row of B and C, by what memory and L2 move. row_bins takes the
/// time of the slower of the two. In bands all rows of B come from L2, C is read and written for
/// each, and rows that are not cut read from memory as before. Within a tenth of what stand-ins
/// took on an H100 (docs/lab/2026-11-26-spmm-column-bands.md).
bool bands_pay(const SpmmProfile& profile, const CardRates& card) {
  constexpr double kOfMemory = 0.82, kL2BytesOfACycle = 32;
  constexpr double kWorthIt = 0.88;  // of the time: the analysis takes longer, and the model errs
  const BandSample& sample = profile.bands;
  const double width = static_cast<double>(profile.dense_cols) * profile.b_bytes / kBandSliceBytes;
  const double memory = kOfMemory * card.memory_bytes_per_second;
  const double l2 = kL2BytesOfACycle * card.cycles_per_second;
  const double nnz = static_cast<double>(profile.nnz), gathered = nnz * kBandSliceBytes;
  const double c = kBandSliceBytes * static_cast<double>(profile.rows);
  const double once = nnz * (4 + profile.b_bytes) + c;
  const double bins = std::max((sample.new_columns * gathered + once) / memory, gathered / l2);
  const double passes = 2.0 * column_bands(profile.cols, card.l2_bytes) - 1;  // over a row of C
  const double whole = (1 - sample.cut_entries) * sample.new_columns * gathered;
  const double bands =
      gathered / l2 + (sample.cut_rows * passes * kBandSliceBytes + whole + c) / memory;
  return bands * std::ceil(width) < kWorthIt * bins * width;
}

namespace {

/// What is known of a diagonal from some of its entries.
struct Diagonal {
  Offset col_minus_row = 0;
  const std::byte* first = nullptr;  // value seen
  bool is_constant = true;

  void see(const CsrMatrix& a, Offset at) {
    if (a.values() == nullptr) return;
    const auto bytes = static_cast<std::size_t>(size_of(a.value_kind()));
    const auto* value = static_cast<const std::byte*>(a.values()) + at * static_cast<Offset>(bytes);
    if (first == nullptr) first = value;
    is_constant = is_constant && std::memcmp(first, value, bytes) == 0;
  }
};

constexpr int kMostDiagonals = 64, kMostOfLarge = 100;

/// The diagonals of sampled rows, in their order: that of a row's columns, too, so that of the next
/// entry lies at the next place or soon behind.
struct DiagonalSample {
  std::array<Diagonal, kMostOfLarge> diagonals;
  int count = 0;
  Offset entries = 0;

  /// False: there are more than `most`.
  bool add_row(const CsrMatrix& a, Offset row, int most) {
    int place = 0;
    for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
      const Offset own = a.col_indices()[at] - row;
      while (place < count && diagonals[place].col_minus_row < own) ++place;
      if (place == count || diagonals[place].col_minus_row != own) {
        if (count == most) return false;
        std::move_backward(diagonals.begin() + place, diagonals.begin() + count,
                           diagonals.begin() + count + 1);
        diagonals[place] = {own};
        ++count;
      }
      diagonals[place].see(a, at);
      ++entries;
    }
    return true;
  }
};

}  // namespace

bool segments_pay(const SpmmProblem& problem) {
  constexpr Index kMostColumns = 4;
  constexpr Offset kFewEntries = 100'000, kShortMean = 8, kLongMean = 20;
  const Index dense_cols = problem.dense_cols;
  const Offset nnz = problem.a.nnz(), rows = problem.output_rows();
  const bool is_wide = problem.b == ValueKind::f64;
  if (dense_cols > kMostColumns || nnz == 0 || problem.semiring != Semiring::plus_times ||
      problem.c != problem.b || (problem.b != ValueKind::f32 && !is_wide) ||
      has_narrow_operands(problem)) {
    return false;
  }
  if (dense_cols <= 2) return true;
  // A lane's four sums and factors in f64 take so many registers that few warps are left.
  if (is_wide && dense_cols == kMostColumns) return nnz >= kLongMean * rows;
  return nnz >= kFewEntries || nnz >= kShortMean * rows;
}

bool stencil_pays(const SpmmProblem& problem) {
  constexpr Index kMostColumns = 8, kFewColumns = 4;
  constexpr Index kWork = 640, kWorkInF64 = 160;  // columns^2, in f64 columns, times diagonals
  constexpr Index kWorkOfLargeInF64 = 224;
  constexpr Offset kSample = 512, kTogether = 4;
  const Index dense_cols = problem.dense_cols;
  if (dense_cols < 1 || dense_cols > kMostColumns || problem.a.nnz() == 0) return false;
  if (!rows_are_on_host(problem) || has_narrow_operands(problem)) return false;
  // Where A as CSR has more than half of L2, that it is read no more is worth more.
  const int b_bytes = size_of(problem.b);
  const double csr_bytes = static_cast<double>(problem.a.nnz()) * (4 + b_bytes);
  const bool is_large = csr_bytes > static_cast<double>(current_l2_bytes()) / 2;
  const Index in_any_kind = std::min(kMostDiagonals, kWork / (dense_cols * dense_cols));
  Index most = in_any_kind;
  if (b_bytes == 8) {
    most = std::max(most, std::min(kMostDiagonals, kWorkInF64 / dense_cols));
    if (is_large) most = std::max(most, std::min(kMostDiagonals, kWorkOfLargeInF64 / dense_cols));
  }
  if (is_large && b_bytes > 2 && dense_cols <= kFewColumns) most = kMostOfLarge;
  const CsrMatrix& a = problem.a;
  const Offset sample = std::min<Offset>(kSample, a.rows());
  DiagonalSample seen;
  // Some next to each other, which lie in one page of memory.
  const Offset together = a.rows() < kSample ? 1 : kTogether, stretches = sample / together;
  for (Offset i = 0; i < sample; ++i) {
    const Offset row = i / together * a.rows() / stretches + i % together;
    if (!seen.add_row(a, row, most)) return false;
  }
  // Segments read only entries that are there, and once for all columns.
  if (segments_pay(problem)) {
    constexpr Index kFewDiagonals = 5;
    if (8 * seen.entries < 7 * sample * seen.count) return false;
    if (dense_cols == kFewColumns && b_bytes == 4 && !is_large && seen.count > kFewDiagonals) {
      return false;
    }
  }
  // A stencil waits once for every four diagonals, or eight constant ones. Where entries are few,
  // that takes longer than row_bins, which has soon multiplied them; microseconds on an H100,
  // docs/lab/2026-11-26-spmm-last-cliffs.md.
  constexpr double kDiagonal = 0.08, kStart = 0.6, kEntry = 11e-6;
  const auto constant = std::count_if(seen.diagonals.begin(), seen.diagonals.begin() + seen.count,
                                      [](const Diagonal& each) { return each.is_constant; });
  const double waits = kDiagonal * (seen.count - static_cast<double>(constant) / 2);
  if (waits > kStart + kEntry * static_cast<double>(a.nnz())) return false;
  // Gaps cost their product and, if values are stored, 4 or 8 bytes; the more columns and
  // diagonals, the more.
  Offset least_eighths = dense_cols <= 2 ? 3 : 4;
  if (seen.count > in_any_kind) {
    least_eighths = dense_cols <= kFewColumns ? 5 : 6;
  }
  return 8 * seen.entries >= least_eighths * sample * seen.count;
}

std::unique_ptr<SpmmPlan> make_auto(const SpmmProblem& problem, const PlanOptions& given) {
  const bool is_off_vectors = given.variant == kOffVectors;
  if (!is_off_vectors && !given.variant.empty()) {
    throw UsageError("auto knows no setting '" + given.variant + "'; use " + kOffVectors +
                     " where rows of B or C begin at no multiples of 16 bytes");
  }
  PlanOptions options = given;
  options.variant.clear();  // the kernels have none
  if (is_spmv(problem)) return make_spmv(problem, options);
  const Stopwatch choosing;
  const std::vector<Rule> rules = rules_for(problem, is_off_vectors);
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
  if (is_spmv(problem)) return "spmv.auto";
  for (const Rule& rule : rules_for(problem, false)) {
    if (rule.holds) return rule.kernel;
  }
  throw UsageError("no rule holds");
}

}  // namespace csrkit::gpu

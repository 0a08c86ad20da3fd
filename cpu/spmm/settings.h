// The settings of kernels (for --variant and --tune). No setting changes a bit of the result. Those
// of nnz_balanced stand here whole: how they are written, and what is best where nothing was
// measured.
#pragma once

#include <string>
#include <vector>

#include "cpu/common/alike_rows.h"
#include "cpu/common/caches.h"
#include "cpu/common/operator_plan.h"
#include "cpu/spmm/row_kernels.h"

namespace csrkit::cpu {

struct Settings {
  Index tile_cols = 0;  // columns of B that are gone through before the next ones; 0 = all at once
  RowSettings rows;
  /// Slices of tile_cols columns of B are copied, their rows side by side on cache lines.
  bool packs_b = false;
  bool joins_rows = false;  // neighbouring rows with the same columns are made together
  /// Above 1, A is copied in so many bands of columns (banded_copy.h), where may_have_bands. Rows
  /// are not joined then.
  Index bands = 1;
};

/// Chosen from sizes, caches, threads and what reads_of_b.h says of A; `why` says it in words.
/// Without `may_band` there are no bands.
Settings default_settings(const CsrMatrix& op_a, const SpmmProblem& problem, int threads,
                          const CacheSizes& caches, bool may_band, std::string* why);

/// Whether there may be bands of columns of A: for plus_times, f32 or f64, and 32 columns or more.
bool may_have_bands(const SpmmProblem& problem);

/// Whether rows of op(A) with the same columns are made together: where rows of B are so long that
/// reading one once for all of them saves more than it costs to go through several rows of A at a
/// time. Bands of columns take their place where few are alike.
bool pays_joining(const AlikeRows& alike, const CsrMatrix& op_a, const SpmmProblem& problem,
                  bool has_bands);
/// Whether that could be true at all, by sizes alone: if not, such rows are not searched for.
bool may_pay_joining(const CsrMatrix& op_a, const SpmmProblem& problem);

/// "tile=64,prefetch=4096,stores=stream" (or aligned, or cached), and ",b=packed" where slices are,
/// ",rows=joined" where rows are, ",bands=8" where A is. Throws UsageError that shows this form.
Settings parse_settings(const std::string& text);
std::string text_of(const Settings& settings);

/// What is worth measuring for a problem, as text.
std::vector<std::string> candidate_settings(const SpmmProblem& problem);

/// The settings of unrolled: how many columns are kept in local variables.
std::vector<std::string> unrolled_widths(const SpmmProblem& problem);

}  // namespace csrkit::cpu

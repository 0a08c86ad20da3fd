// The variants of kernels (for --variant and --tune), of nnz_balanced the settings of which one
// consists, and how they are written. No variant changes a bit of the result.
#pragma once

#include <string>
#include <vector>

#include "cpu/common/operator_plan.h"
#include "cpu/spmm/rows/row_kernels.h"

namespace csrkit::cpu {

/// Slices of B have a multiple of so many columns: 128 bytes, or two vectors of AVX-512, of f32.
inline constexpr Index kNarrowestTile = 32;

/// Of nnz_balanced.
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

/// Whether there may be bands of columns of A: for plus_times, f32 or f64, and 32 columns or more.
bool may_have_bands(const SpmmProblem& problem);

/// "tile=64,prefetch=4096,stores=stream" (or aligned, or cached), and ",b=packed" where slices are,
/// ",rows=joined" where rows are, ",bands=8" where A is. Throws UsageError that shows this form.
Settings parse_settings(const std::string& text);
std::string text_of(const Settings& settings);

/// The variants of unrolled: how many columns are kept in local variables.
std::vector<std::string> unrolled_widths(const SpmmProblem& problem);

}  // namespace csrkit::cpu

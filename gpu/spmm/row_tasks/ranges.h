// The order in which row_bins visits rows, and the lanes that they get, as far as sizes decide it.
#pragma once

#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu {

/// With so many entries a row on average, rows are short: most are in strips.
inline constexpr Offset kShortMean = 4;

/// Whether rows are sorted by length within ranges of rows, which keeps neighbours near each other,
/// instead of all together. `value_bytes`: of a value of A.
bool has_ranges(const SpmmSizes& sizes, int value_bytes);

/// The fewest nonzeros with which two slices of 16 lanes become one of 32: they must fill the
/// device with groups of 32 lanes. Where rows are not short they must do so twice, as two groups of
/// 16 share a row and wait for B half as often. On an H200, 12 real matrices of 135,000 to 270,000
/// nonzeros, 20 to 195 a row: with 32 lanes K = 100 took 0.95 to 1.31 times what K = 128 took with
/// 16. In f64 nothing was measured.
inline Offset fewest_for_wide_slices(Offset nnz, Offset rows) {
  constexpr Offset kFewEntries = 16;
  return nnz <= kFewEntries * rows ? kEntriesAtOnce : 2 * kEntriesAtOnce;
}

}  // namespace csrkit::gpu

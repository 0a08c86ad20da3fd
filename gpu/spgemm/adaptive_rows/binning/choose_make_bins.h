// The bins in which rows of C are made, and the offsets of C, once all rows are counted.
#pragma once

#include "gpu/spgemm/adaptive_rows/profile/profile.h"

namespace csrkit::gpu {

/// The array for C's offsets; at most one of the two is set.
struct NewOffsets {
  std::uint32_t* narrow = nullptr;
  Offset* wide = nullptr;
};

/// The length of `states` for choose_make_bins: a number for each of its blocks.
inline Offset states_of_sums(Index rows) { return Offset{rows} / 256 + 1; }

/// Replaces each row's CountBin by its MakeBin; counts must be complete. Writes the offsets of C if
/// `offsets` has an array, and totals->nnz. `states` must be zero.
void choose_make_bins(const DeviceCsrView<void>& a, const BinRules& rules,
                      const RowProfile& profile, const NewOffsets& offsets,
                      unsigned long long* states, BinTotals* totals, cudaStream_t stream);

}  // namespace csrkit::gpu

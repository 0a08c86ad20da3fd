// A rule of auto: when column_bands takes less time than row_bins. No CUDA here: the rule is tested
// without a GPU.
#pragma once

#include "gpu/device/device_info.h"
#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

/// What a look at A tells of bands of columns. At first what makes bands look best.
struct BandSample {
  /// The shares of A's entries whose row of B half of L2 does not hold when they are multiplied, in
  /// the order of the entries: in slices of row_bins, and in the narrower ones of column_bands.
  double missed_by_bins = 1, missed = 0;
  double cut_entries = 1;  // the share in rows that column_bands cuts
  double cut_rows = 0;     // how many there are
};

/// Whether B is so large that a look is worth its time.
bool bands_may_pay(const SpmmProfile& profile, const CardRates& card);

/// Takes about a millisecond. Nothing is missed where the host cannot see the rows of op(A): then
/// bands do not pay.
BandSample sample_for_bands(const SpmmProblem& problem, const SpmmProfile& profile,
                            const CardRates& card);

/// Whether column_bands is expected to take less time, on a card of those rates.
bool bands_pay(const SpmmProfile& profile, const BandSample& sample, const CardRates& card);

}  // namespace csrkit::gpu

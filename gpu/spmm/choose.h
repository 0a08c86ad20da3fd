// The rules of auto: when panels of rows pay. No CUDA here: the rules are tested without a GPU.
#pragma once

#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

/// A variant of auto (PlanOptions::variant). It says that rows of B or C do not begin at multiples
/// of 16 bytes, although the number of columns would allow it. The plan could see that only in
/// bind, which is too late for the choice.
inline constexpr const char* kOffVectors = "off-vectors";

/// Whether row_panels is a candidate: the host sees the rows of op(A), there is enough work, and
/// values in 16 bits are finite.
bool may_have_panels(const SpmmProfile& profile);

/// Whether row_panels is expected to take less time than row_bins, by the formula of
/// panels_or_bins.h and, where that is unsure, the correction of likeness.h.
bool panels_pay(const SpmmProfile& profile);

/// Whether a look at A for row_panels pays, by what dense_windows and row_bins are expected to
/// take.
bool panels_may_beat_windows(int b_bytes, double log_windows_over_bins);

/// Whether row_panels is also expected to take less time than dense_windows, if it pays.
bool panels_beat_windows(const SpmmProfile& profile, double log_windows_over_bins);

}  // namespace csrkit::gpu

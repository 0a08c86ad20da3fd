// What auto's choice rests on: when panels of rows pay, when bands of columns, and, of a few
// columns, when segments or a stencil.
// No CUDA here: it is tested without a GPU.
#pragma once

#include "gpu/device/device_info.h"
#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

/// The setting of auto (PlanOptions::variant) that says: rows of B or C begin at no multiples of 16
/// bytes, though the number of columns lets them. That shows only when they are bound, which is too
/// late.
inline constexpr const char* kOffVectors = "off-vectors";

/// Whether panels come into question at all.
bool may_have_panels(const SpmmProfile& profile);

/// Whether row_panels is expected to take less time than row_bins: by counted work, and by what
/// that missed on matrices like this one.
bool panels_pay(const SpmmProfile& profile);

/// Whether column_bands is expected to take less time than row_bins, on a card of those rates.
bool bands_pay(const SpmmProfile& profile, const CardRates& card);

/// Whether jagged, a kernel of SpMV whose lanes take up to four columns each, is expected to take
/// less time than row_bins, whose groups of eight lanes are mostly idle then. Measured on H100s
/// (docs/lab/2026-11-27-spmm-few-columns.md).
bool segments_pay(const SpmmProblem& problem);

/// Whether a sample of A's rows has few diagonals, well filled. Up to eight columns B and C are
/// what moves then: where A is a few numbers and a bit an entry, it need not be read. The more
/// columns there are, the fewer diagonals that is worth.
bool stencil_pays(const SpmmProblem& problem);

}  // namespace csrkit::gpu

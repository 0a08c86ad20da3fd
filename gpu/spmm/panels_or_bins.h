// What counted work says of row_panels beside row_bins: a sum of terms, each with a weight.
//
// Panels read a row of B once for all entries that share it, the more so the wider a row is. They
// lose where rows are short, as row_bins has those in strips; where there are too few of them to
// fill the card, the more the longer their lists are; and where a very long row is cut. The terms
// are of that, the weights are learnt: by least squares from records of all kernels
// (tests/gpu/spmm/likeness_test.cpp makes them; docs/lab/2026-11-26-spmm-choice-by-entries.md). A
// ratio has no unit, and none of a card's rates was seen in it.
#pragma once

#include <array>

#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

/// Beyond this, what is said is far enough from 0, whatever it is.
inline constexpr double kFarOff = 0.5;
inline double near_zero(double log_ratio) {
  return log_ratio < -kFarOff ? -kFarOff : log_ratio > kFarOff ? kFarOff : log_ratio;
}

using PanelTerms = std::array<double, 17>;
PanelTerms panel_terms(const SpmmProfile& profile);

/// Thousands of clock cycles of row_bins. Rows that do not fill lines take those of `unfilled`
/// times whole slices of 64 columns.
double gather_kilocycles(const SpmmSizes& sizes, int multiprocessors, double unfilled);

/// The natural logarithm of the time of row_panels over that of row_bins, near zero.
double log_panels_over_bins(const SpmmProfile& profile);

}  // namespace csrkit::gpu

// A formula for the time of row_panels over that of row_bins: a sum of terms, each with a weight.
//
// A panel reads a row of B once for all its entries in that column, which saves more where rows of
// B are wider. Panels lose where rows are short, because row_bins packs those in strips; where
// there are too few panels to fill the card, the more so if their lists are long; and where a very
// long row is cut. The terms count these effects. The weights are fitted by least squares to
// records of all kernels (tests/gpu/spmm/likeness_test.cpp makes them;
// docs/lab/2026-11-26-spmm-choice-by-entries.md). The records show no influence of a card's rates
// on the ratio, so none is among the terms.
#pragma once

#include <array>

#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

/// Logarithms of ratios are cut off here: farther from 0 the choice is clear.
inline constexpr double kFarOff = 0.5;
inline double near_zero(double log_ratio) {
  return log_ratio < -kFarOff ? -kFarOff : log_ratio > kFarOff ? kFarOff : log_ratio;
}

using PanelTerms = std::array<double, 16>;
PanelTerms panel_terms(const SpmmProfile& profile);

/// Thousands of clock cycles of row_bins. If the width is no multiple of 32 columns (and above 32),
/// it counts as `unfilled` times the width rounded up to whole slices of 64.
double gather_kilocycles(const SpmmSizes& sizes, int multiprocessors, double unfilled);

/// The natural logarithm of the time of row_panels over that of row_bins, cut off by near_zero.
double log_panels_over_bins(const SpmmProfile& profile);

}  // namespace csrkit::gpu

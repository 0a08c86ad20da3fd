// A correction to the formula for row_panels against row_bins (panels_or_bins.h), by likeness to
// matrices that were measured.
//
// The formula counts known effects. Others (the order in which rows meet in L1, warps that wait for
// each other) are not counted, but they are similar on similar matrices. So a table holds measured
// matrices with weights for what the formula misses on them, fitted as in a Gaussian process: the
// weights of a width are the solution of a linear system. Far from all of these matrices nothing is
// added.
#pragma once

#include <array>
#include <cstddef>

#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

/// A matrix as likeness sees it. Each fact is divided by the distance at which it tells matrices
/// apart: sharing, how unlike rows of a panel are, mean and number of rows, the longest row, and
/// what 16 and 64 neighbouring rows share.
using LikenessFacts = std::array<float, 7>;
LikenessFacts likeness_facts(const SpmmProfile& profile);

/// 1 for the same, 0 for nothing or next to nothing in common.
double likeness(const LikenessFacts& one, const LikenessFacts& other);

/// A matrix has weights for 8 columns and fewer, 16, 32, 64, 128, and 256 and more; then for 41 and
/// 127 columns whose rows begin anywhere.
inline constexpr std::size_t kLikenessWidths = 6, kLikenessOddWidths = 2;
using WidthWeights = std::array<float, kLikenessWidths + kLikenessOddWidths>;
/// Interpolates between weights: 1 - beyond of the weight at `from`, `beyond` of the next one.
struct WidthPlace {
  std::size_t from;
  double beyond;
};
WidthPlace place_of_width(const SpmmProfile& profile);

struct MeasuredMatrix {
  LikenessFacts facts;
  WidthWeights weights;
};

/// Whether the correction may decide. With a logarithm farther from 0 it changed the choice in 22
/// of 16,056 recorded products, in 15 of them to the faster kernel. So it is left out there, and
/// the neighbourhood, which only it needs, is not looked at.
inline bool is_unsure(double log_ratio) { return log_ratio > -0.15 && log_ratio < 0.15; }

/// The correction, to be added to log_panels_over_bins.
double missed_by_formula(const SpmmProfile& profile);

}  // namespace csrkit::gpu

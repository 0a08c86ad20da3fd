// What the formula for row_panels against row_bins misses, by likeness to matrices that were
// measured.
//
// The formula counts what it knows of a machine. What is left over (the order in which rows meet in
// L1, warps that wait for each other) is in no count, but it is alike on matrices that are alike.
// So a table holds such matrices, and what the formula misses there, learnt as a Gaussian process
// is: a weight for each matrix and width, the solution of a linear system. Far from all of them
// nothing is added.
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

/// Weights stand at 8 columns and fewer, 16, 32, 64, 128, and 256 and more; then at 41 and 127
/// columns whose rows begin anywhere.
inline constexpr std::size_t kLikenessWidths = 6, kLikenessOddWidths = 2;
using WidthWeights = std::array<float, kLikenessWidths + kLikenessOddWidths>;
/// Which weights count: that of `from` and, by a share of `beyond`, the next one.
struct WidthPlace {
  std::size_t from;
  double beyond;
};
WidthPlace place_of_width(const SpmmProfile& profile);

struct MeasuredMatrix {
  LikenessFacts facts;
  WidthWeights weights;
};

/// Whether what is missed can decide. With a logarithm farther from 0 it turned 22 of 16,056
/// recorded products, 15 of them to the faster kernel: likeness is not asked for, and the
/// neighbourhood, which it alone needs, not looked at.
inline bool is_unsure(double log_ratio) { return log_ratio > -0.15 && log_ratio < 0.15; }

/// To be added to the formula's logarithm of the ratio (panels_or_bins.h).
double missed_by_formula(const SpmmProfile& profile);

}  // namespace csrkit::gpu

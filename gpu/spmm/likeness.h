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

#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

/// A matrix as likeness sees it. Each fact is divided by the distance at which it tells matrices
/// apart: sharing, how unlike rows of a panel are, mean and number of rows, the longest row.
using LikenessFacts = std::array<double, 5>;
LikenessFacts likeness_facts(const SpmmProfile& profile);

/// 1 for the same, 0 for nothing in common.
double likeness(const LikenessFacts& one, const LikenessFacts& other);

/// Weights stand at 8 columns and fewer, 16, 32, 64, 128, and 256 and more.
inline constexpr int kLikenessWidths = 6;
using WidthWeights = std::array<double, kLikenessWidths>;
/// Where `dense_cols` is among them: 0 to kLikenessWidths - 1.
double place_of_width(Index dense_cols);

struct MeasuredMatrix {
  LikenessFacts facts;
  WidthWeights weights;
};

/// Beyond this, what the formula says is far enough from 0, whatever it is: what it misses is
/// learnt of, and added to, no more than that.
inline constexpr double kFarOff = 0.5;

/// To be added to the formula's logarithm of the ratio. 0 where rows of B or C begin anywhere or
/// fill no sectors of 32 bytes: no matrix of the table was measured so.
double missed_by_formula(const SpmmProfile& profile);

}  // namespace csrkit::gpu

// What the kernels of dense_windows share in f32 and 16 bits: accuracy, places of numbers, and B in
// parts.
//
// Accuracy. Every operand is scaled by a power of two, by rows of A and by columns of a part of B,
// and x = hi + lo / 2^11 with two f16 numbers, each rounded to nearest: |error| <= 2^-23 |x| for
// all x of at least 2^-27 of the largest with its scale. Of a product's four terms lo * lo is left
// out, at most 2^-22. That is 8 u of every product at most, u = 2^-24. A tensor core cuts addends
// off at 2^-25 of the largest and sums to 24 bits (H200, by experiment), twice in half a window;
// half windows and the parts of a tile are added up in f32. With n entries in a row, m in its
// fullest half window, w half windows that have any (w + m <= n + 1), and p parts:
//   |error| <= (8 + m / 2 + 4 + 1 + w + p + 3) u * magnitude <= (n + p + 17) u * magnitude,
// the 3 for alpha, beta and the last sum. core/judge/compare.h allows (n + 3) u and is what tests
// ask for: the constant part is reached only if every rounding goes the worst way at once, and rows
// of fewer than kFewestEntries entries, where it would weigh most, are added up by FMAs.
// Numbers of 16 bits are hi alone, without an error: 8 or 11 bits, normal in f16 down to 2^-27 of
// the largest. What is left of the bound is (n + p + 9) u. As f16 numbers that are not scaled they
// would err: a tensor core does not normalize subnormals, and cuts other addends as if these were
// large. Source of the splitting: Ootomo, Yokota, "Recovering single precision accuracy from Tensor
// Cores while surpassing the FP32 theoretical peak performance", 2022. Akin to Ozaki splitting
// (Ozaki et al., "Error-free transformations of matrix multiplication", 2012; on tensor cores
// Mukunoki et al., "DGEMM using Tensor Cores", 2020). There numbers are cut into as many slices as
// make every product of slices exact; here there are two halves, and the error is bounded as above.
#pragma once

#include "gpu/spmm/dense_windows/workspace.h"

namespace csrkit::gpu {

inline constexpr int kWindowCols = window_cols_of(WindowKind::one_half);
inline constexpr int kFewestEntries = 16;  // of a row for tensor cores
/// The exponent of the largest number of a scaled row or column: f16 goes to 2^16.
inline constexpr int kTopExponent = 14;
/// Numbers below 2^-27 of the largest (by exponents) would lose bits.
inline constexpr int kExponentRange = 27;
/// Rows and columns whose largest number is beyond these exponents are left to FMAs: scales and
/// partial sums would leave the range of f32.
inline constexpr int kLeastExponentOfB = -40, kMostExponent = 60, kLeastExponentOfA = -60;

/// The byte position in shared memory of 8 neighbouring f16 numbers of a row of a window of A.
__host__ __device__ constexpr int a_place(int row, int eight) {
  return row * (kWindowCols * 2) + ((eight ^ (row & 7)) << 4);
}

/// The byte position of 8 neighbouring f16 numbers of row k of a part of B. Swizzled, so that eight
/// rows use different banks.
template <int kTileCols>
__host__ __device__ constexpr int b_place(int k, int eight) {
  constexpr int kEights = kTileCols / 8;
  const int twist = kEights >= 8 ? k & 7 : k >> 1 & 3;
  return (k * kEights + (eight ^ twist)) * 16;
}

}  // namespace csrkit::gpu

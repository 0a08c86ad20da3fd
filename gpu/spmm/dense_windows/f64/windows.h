// What the kernels of dense_windows share in f64: accuracy, and the places of numbers.
//
// Accuracy. It is taken for granted that these tensor cores round once for a product and its sum,
// as fma() does; what the tests ask for follows from it. Places of a window without an entry add
// zeros, which changes no sum. So an entry of a row goes through one rounding for each of the row's
// entries after it in its part of the sum, and one for each part with entries after that: n u of
// the magnitude for n entries, as in one chain of multiply-adds.
//
// Numbers that are not finite. A place without an entry times an infinity or a NaN of B is a NaN,
// so every sum that such a number reached is not finite, and is made again from the entries alone.
#pragma once

#include "gpu/spmm/dense_windows/pipeline.cuh"
#include "gpu/spmm/dense_windows/workspace.h"

namespace csrkit::gpu::dense_windows_f64 {

inline constexpr int kWindowCols = window_cols_of(WindowKind::f64);

// Lane (g, t) = (lane / 4, lane % 4) of a warp loads rows g and g + 8 of A at once, in columns t
// and t + 4 of a step of eight, and column g of B, in rows t and t + 4. Both are swizzled, so that
// lanes that are served at once use different banks.

/// The position of a number of a window of A: 16 rows together, column by column, and of these rows
/// i and i + 8 side by side.
__host__ __device__ constexpr int a_place(int row, int col) {
  return row / 16 * 16 * kWindowCols + col * 16 + ((row % 8 ^ col % 4 * 2) * 2) + row / 8 % 2;
}
/// The position of a number of a part of B: row by row, in units of four.
template <int kTileCols>
__host__ __device__ constexpr int b_place(int row, int col) {
  return row * kTileCols + ((col / 4 ^ row % 4) * 4) + col % 4;
}

template <int kTileCols>
struct alignas(128) Stage {
  alignas(128) double a[kTileRows * kWindowCols];
  alignas(128) double b[kWindowCols * kTileCols];
};

template <int kTileCols>
struct StagesInShared {
  Stage<kTileCols> stages[kStages];
  std::uint64_t full[kStages];
};

}  // namespace csrkit::gpu::dense_windows_f64

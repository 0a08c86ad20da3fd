// What dense_windows' host code, its preparation and its multiplication share.
//
// Accuracy. Every operand is scaled by a power of two, x = hi + lo / 2^11 with two f16 numbers, hi
// rounded to nearest, lo the rounded rest: |error| <= 2^-23 |x| if |x| >= 2^-28 of the largest of its
// kKept. Of the product's four terms lo * lo is left out, at most 2^-22: in all 8 u of a product, u =
// 2^-24. The tensor cores add up one window, exactly but for truncation: of every addend to 2^-24 of
// the largest, and of the sum to 24 bits. Windows are added by FMAs. So with n entries in a row, at most
// m of them in one window, and w windows that have any (w + m <= n + 1):
//   |error| <= (8 + m + 4 + w + 3) u * magnitude <= (n + 16) u * magnitude,
// where the 3 are alpha, beta and the final sum. Rows of fewer than kFewestEntries entries are added by
// FMAs as in the other kernels; for the others this is at most (1 + 13 / (n + 3)) times the bound of
// core/compare.h, and the 8 and the 4 are met only if every rounding goes the worst way.
// Source of the splitting: Ootomo, Yokota, "Recovering single precision accuracy from Tensor Cores
// while surpassing the FP32 theoretical peak performance", 2022.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

inline constexpr int kTileRows = 128;      // of C, and of a window of A
inline constexpr int kWindowCols = 32;     // of A: rows of B
inline constexpr int kFewestEntries = 16;  // of a row that the tensor cores work on
/// Blocks of a launch: one for every multiprocessor of an H100 or H200. A constant, as it decides in
/// which order sums are added up, and the same product should have the same bits everywhere.
inline constexpr Offset kWindowBlocks = 132;

/// The exponent of the largest number of a scaled row or column: f16 goes to 2^16.
inline constexpr int kTopExponent = 14;
/// Numbers below 2^-27 of the largest (by exponents) would lose bits.
inline constexpr int kExponentRange = 27;
/// Largest numbers beyond these exponents are left to FMAs: scales and partial sums would leave f32.
inline constexpr int kLeastExponentOfB = -40, kMostExponent = 60, kLeastExponentOfA = -60;

/// How a product is cut; all from sizes.
struct WindowShape {
  Index rows = 0, cols = 0, dense_cols = 0;
  Offset nnz = 0;
  int tile_cols = 0;                                 // columns of C in a tile: 32, 64 or 128
  Offset row_tiles = 0, col_tiles = 0, windows = 0;  // windows: in a row of tiles of A
  Offset blocks = 0, units_each = 0, longer_blocks = 0;

  WindowShape() = default;
  explicit WindowShape(const SpmmSizes& sizes);

  __host__ __device__ Offset units() const { return row_tiles * col_tiles * windows; }
  /// Block g works on the units [first_unit(g), first_unit(g + 1)): window by window, tile by tile.
  __host__ __device__ Offset first_unit(Offset block) const {
    return block * units_each + (block < longer_blocks ? block : longer_blocks);
  }
  __host__ __device__ Offset block_of(Offset unit) const {
    const Offset in_longer = longer_blocks * (units_each + 1);
    return unit < in_longer ? unit / (units_each + 1)
                            : longer_blocks + (unit - in_longer) / units_each;
  }
  /// B's part of a window: hi and lo as they will lie in shared memory, and the columns' scales.
  __host__ __device__ int b_part_bytes() const { return tile_cols * (kWindowCols * 4 + 4); }
};

/// An entry of a window: where it goes, and its scaled value in two halves, hi in the lower 16 bits.
struct WindowEntry {
  unsigned place;
  unsigned halves;
};

/// Device pointers into the workspace. The analysis keeps A's values, window by window; the order inside
/// of a window is not fixed, and does not matter.
struct WindowWorkspace {
  Index* arrivals = nullptr;  // of a tile's parts; zero before and after every launch
  Offset* begins = nullptr;   // of the windows in `entries`, row of tiles by row of tiles; one more
  float* row_scales = nullptr;     // 0: a row for FMAs
  WindowEntry* entries = nullptr;  // nnz
  int* misfits = nullptr;  // of a part of B: whether it has numbers that hi and lo cannot hold
  std::byte* b_parts = nullptr;  // window by window, tile of columns by tile of columns
  float* partial = nullptr;      // two tiles a block
  unsigned* counts = nullptr;    // of the windows, during the analysis
};

/// Lays the workspace out, or with `base` null just counts; the first `analysis_bytes` are the analysis.
std::uint64_t lay_out_windows(const WindowShape& shape, std::byte* base, WindowWorkspace* workspace,
                              std::uint64_t* analysis_bytes);

/// Queues the analysis: the scales of A's rows, and A's entries window by window.
void fill_windows(const DeviceCsrView<float>& a, const WindowShape& shape,
                  const WindowWorkspace& workspace, cudaStream_t stream);

/// Queues what comes before every multiplication: B in parts.
void split_b(const DeviceDenseView<const float>& b, const WindowShape& shape,
             const WindowWorkspace& workspace, cudaStream_t stream);

/// Where 8 neighbouring f16 numbers of a row of a window of A lie in shared memory, in bytes.
__host__ __device__ constexpr int a_place(int row, int eight) {
  return row * (kWindowCols * 2) + ((eight ^ (row >> 1 & 3)) << 4);
}

/// Where 8 neighbouring f16 numbers of row k of a part of B lie, in bytes; so that eight rows of them
/// lie in different banks.
template <int kTileCols>
__host__ __device__ constexpr int b_place(int k, int eight) {
  constexpr int kEights = kTileCols / 8;
  const int twist = kEights >= 8 ? k & 7 : k >> 1 & 3;
  return (k * kEights + (eight ^ twist)) * 16;
}

}  // namespace csrkit::gpu

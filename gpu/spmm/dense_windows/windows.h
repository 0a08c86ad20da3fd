// What the host code and the kernels of dense_windows share: accuracy, the cut of the product, the
// workspace.
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
// Source of the splitting: Ootomo, Yokota, "Recovering single precision accuracy from Tensor Cores
// while surpassing the FP32 theoretical peak performance", 2022. Akin to Ozaki splitting (Ozaki et
// al., "Error-free transformations of matrix multiplication", 2012; on tensor cores Mukunoki et
// al., "DGEMM using Tensor Cores", 2020). There numbers are cut into as many slices as make every
// product of slices exact; here there are two halves, and the error is bounded as above.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

inline constexpr int kTileRows = 128;      // of C, and of a window of A
inline constexpr int kWindowCols = 64;     // of A: rows of B
inline constexpr int kFewestEntries = 16;  // of a row for tensor cores
/// Blocks of a launch: one for every multiprocessor of an H100 or H200. A constant, because it
/// decides the order of sums, and a product should have the same bits on every device.
inline constexpr Offset kWindowBlocks = 132;

/// The exponent of the largest number of a scaled row or column: f16 goes to 2^16.
inline constexpr int kTopExponent = 14;
/// Numbers below 2^-27 of the largest (by exponents) would lose bits.
inline constexpr int kExponentRange = 27;
/// Rows and columns whose largest number is beyond these exponents are left to FMAs: scales and
/// partial sums would leave the range of f32.
inline constexpr int kLeastExponentOfB = -40, kMostExponent = 60, kLeastExponentOfA = -60;

/// How a product is cut, from sizes alone.
struct WindowShape {
  Index rows = 0, cols = 0, dense_cols = 0;
  Offset nnz = 0;
  int tile_cols = 0;                                 // columns of C in a tile: 32, 64 or 128
  Offset row_tiles = 0, col_tiles = 0, windows = 0;  // windows: in a row of tiles of A
  Offset blocks = 0, units_each = 0, longer_blocks = 0;

  WindowShape() = default;
  /// With the width of tiles that is expected to take the least time.
  explicit WindowShape(const SpmmSizes& sizes);
  WindowShape(const SpmmSizes& sizes, int width);

  double mean_entries() const;  // of a window
  /// The time that a product is expected to take on a device if its fullest windows have so many
  /// entries, in thousands of clock cycles.
  double kilocycles(double entries, Offset multiprocessors) const;

  __host__ __device__ Offset units() const { return row_tiles * col_tiles * windows; }
  /// Block g has the units [first_unit(g), first_unit(g + 1)): windows of a tile, tile after tile.
  __host__ __device__ Offset first_unit(Offset block) const {
    return block * units_each + (block < longer_blocks ? block : longer_blocks);
  }
  __host__ __device__ Offset block_of(Offset unit) const {
    const Offset in_longer = longer_blocks * (units_each + 1);
    return unit < in_longer ? unit / (units_each + 1)
                            : longer_blocks + (unit - in_longer) / units_each;
  }
  /// Where a block stores its sums of a shared tile. Two places a block: at most its first and its
  /// last tile are shared.
  __host__ __device__ Offset slot_of(Offset block, Offset tile) const {
    return block * 2 + (first_unit(block) >= tile * windows ? 0 : 1);
  }
  /// Bytes of B's part of a window: hi and lo in the layout of shared memory, and the columns'
  /// scales.
  __host__ __device__ int b_part_bytes() const { return tile_cols * (kWindowCols * 4 + 4); }
};

/// An entry of a window: its place, and its scaled value in two halves, hi in the lower 16 bits.
struct WindowEntry {
  unsigned place;
  unsigned halves;
};

/// Device pointers into the workspace. The analysis copies A's entries window by window; their
/// order within a window differs from run to run and does not matter.
struct WindowWorkspace {
  Offset* begins = nullptr;           // first entry of each window, and the end; in rows of tiles
  float* row_scales = nullptr;        // one for each row; 0: left to FMAs
  unsigned* fma_row_count = nullptr;  // of the next
  Index* fma_rows = nullptr;       // those left to FMAs, in an order that differs from run to run
  WindowEntry* entries = nullptr;  // nnz
  // one for each part of B: whether it has numbers that hi and lo cannot hold
  int* misfits = nullptr;
  std::byte* b_parts = nullptr;  // window by window, tile of columns by tile of columns
  float* partial = nullptr;      // two tiles a block
  int* all_by_fma = nullptr;     // whether there are misfits
  unsigned* counts = nullptr;    // entries of each window, during the analysis
};

/// Lays out the workspace; if `base` is null, only computes its size. The first `analysis_bytes`
/// hold the analysis.
std::uint64_t lay_out_windows(const WindowShape& shape, std::byte* base, WindowWorkspace* workspace,
                              std::uint64_t* analysis_bytes);

/// Queues the analysis: the scales of A's rows, and A's entries window by window.
void fill_windows(const DeviceCsrView<float>& a, const WindowShape& shape,
                  const WindowWorkspace& workspace, cudaStream_t stream);

/// Queues the preparation of B, before every multiplication.
void split_b(const DeviceDenseView<const float>& b, const WindowShape& shape,
             const WindowWorkspace& workspace, cudaStream_t stream);

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

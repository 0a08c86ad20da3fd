// How dense_windows cuts a product into windows and tiles, in every kind, and what it takes.
#pragma once

#include <cuda_runtime.h>

#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

inline constexpr int kTileRows = 128;  // of C, and of a window of A
/// Blocks of a launch: one for every multiprocessor of an H100 or H200. A constant, because it
/// decides the order of sums, and a product should have the same bits on every device.
inline constexpr Offset kWindowBlocks = 132;

/// How numbers are held in shared memory: f32 in two f16 halves, 16 bits in one, f64 as they are.
enum class WindowKind { two_halves, one_half, f64 };
__host__ __device__ constexpr int window_cols_of(WindowKind kind) {
  return kind == WindowKind::f64 ? 32 : 64;  // of A: rows of B
}
inline WindowKind window_kind_of(ValueKind kind_of_b) {
  return kind_of_b == ValueKind::f64   ? WindowKind::f64
         : kind_of_b == ValueKind::f32 ? WindowKind::two_halves
                                       : WindowKind::one_half;
}

/// How a product is cut, from sizes alone.
struct WindowShape {
  Index rows = 0, cols = 0, dense_cols = 0;
  Offset nnz = 0;
  WindowKind kind = WindowKind::two_halves;
  int window_cols = 0;                               // 32 in f64, else 64
  int tile_cols = 0;                                 // of C: 32, 64 or 128 (f64: 32, 64)
  Offset row_tiles = 0, col_tiles = 0, windows = 0;  // windows: in a row of tiles of A
  Offset blocks = 0, units_each = 0, longer_blocks = 0;

  WindowShape() = default;
  /// With the width of tiles that is expected to take the least time.
  WindowShape(const SpmmSizes& sizes, WindowKind of);
  WindowShape(const SpmmSizes& sizes, WindowKind of, int width);

  double mean_entries() const;  // of a window
  /// The time that a product is expected to take on a device if its fullest windows have so many
  /// entries, in thousands of clock cycles.
  double kilocycles(double entries, Offset multiprocessors) const;
  /// The same without the ends of tiles. It chooses the width of tiles, so it decides the order of
  /// sums.
  double kilocycles_of_windows(double entries, Offset multiprocessors) const;

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
  /// The first of a block's sums of a shared tile. Two parts a block: at most its first and its
  /// last tile are shared.
  __host__ __device__ Offset first_of_part(Offset block, Offset tile) const {
    const Offset part = block * 2 + (first_unit(block) >= tile * windows ? 0 : 1);
    return part * (kTileRows * tile_cols);
  }
  /// The sums of all parts.
  Offset shared_sums() const { return blocks * 2 * Offset{kTileRows} * tile_cols; }
};

}  // namespace csrkit::gpu

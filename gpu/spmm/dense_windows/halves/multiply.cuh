// The multiplying warps of a block of dense_windows, and how their sums become C.
#pragma once

#include "gpu/device/launch_early.cuh"
#include "gpu/spmm/dense_windows/halves/rows.cuh"
#include "gpu/spmm/dense_windows/tiles.cuh"

namespace csrkit::gpu {

/// Writes a thread's fragments of sums to a tile of C.
template <class Types, int kTileCols>
class TileWriter {
  using Layout = TileLayout<kTileCols>;

 public:
  /// Leaves out misfits.
  __device__ TileWriter(const WindowOperands<Types>& op, Offset tile, LeftToFmas left)
      : op_(op),
        to_(op),
        row_(tile / op.shape.col_tiles * kTileRows + Layout::first_row() + threadIdx.x % 32 / 4),
        column_(tile % op.shape.col_tiles * kTileCols + Layout::first_col() + threadIdx.x % 4 * 2) {
    if (left == LeftToFmas::nothing) return;
    for (int i = 0; i < 2 * Layout::kWide; ++i) {
      const Offset column = column_ + i / 2 * 8 + i % 2;
      if (column < op.c.cols && op.workspace.column_misfits[column] != 0) left_out_ |= 1u << i;
    }
  }

  __device__ void write(int m, int n, const float (&sums)[4]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Offset row = row_ + m * 16 + half * 8;
      const float scale = row < op_.c.rows ? __ldg(op_.workspace.row_scales + row) : 0;
      if (scale == 0) continue;  // multiply_unscaled_rows has written it
      const float back = 2 * power_of_two_behind(scale);
      to_.write(row, column_ + n * 8, sums[half * 2] * back, sums[half * 2 + 1] * back,
                left_out_ >> 2 * n & 3);
    }
  }

 private:
  /// 2^kTopExponent / scale.
  __device__ static float power_of_two_behind(float scale) {
    return __uint_as_float(((2 * 127u + kTopExponent) << 23) - __float_as_uint(scale));
  }

  const WindowOperands<Types>& op_;
  const PairWriter<Types> to_;
  const Offset row_, column_;
  unsigned left_out_ = 0;  // a bit for each column of this thread
};

/// Multiplies one tile of C after another.
template <class Types, int kTileCols>
class WindowMultiplier {
  static constexpr int kNumbers = kHalves<Types>;
  using Stage = WindowStage<kTileCols, kNumbers>;
  using Layout = TileLayout<kTileCols>;
  static constexpr int kHigh = Layout::kHigh, kWide = Layout::kWide;
  static constexpr int kSteps = kWindowCols / 32;  // of 16 columns of A, in half a window

 public:
  __device__ WindowMultiplier(const WindowOperands<Types>& op,
                              WindowsInShared<kTileCols, kNumbers>& shared)
      : op_(op),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x) % 32),
        first_row_(Layout::first_row()),
        first_col_(Layout::first_col()) {}

  /// Multiplies the windows of the units [unit, end). Writes nothing that is left to FMAs.
  __device__ void multiply(Offset unit, Offset end, LeftToFmas left) {
    const auto add = [&](const Stage& stage) {
      if (left == LeftToFmas::everything) return;
#pragma unroll 1
      for (int half = 0; half < 2; ++half) add_half(stage, half);
    };
    const auto finish = [&](Offset tile, bool is_whole) {
      if (left == LeftToFmas::everything) return;
      if (is_whole) {
        sums_.write(TileWriter<Types, kTileCols>(op_, tile, left));
      } else {
        sums_.leave(op_.workspace.partial + op_.shape.first_of_part(blockIdx.x, tile));
      }
    };
    for_tiles(
        op_.shape, shared_, unit, end, [&] { sums_.clear(); }, add, finish);
  }

 private:
  __device__ static void multiply_all(float (&sums)[kHigh][4], const unsigned (&x)[kHigh][4],
                                      const unsigned* y) {
#pragma unroll
    for (int m = 0; m < kHigh; ++m) detail::multiply_fragments(sums[m], x[m], y);
  }

  /// A window in two halves: the fragments of A in registers are used for all columns. Addresses
  /// differ only in bits that the swizzles of a_place and b_place do not use, so one address each
  /// plus constants is enough.
  __device__ void add_half(const Stage& stage, int half) {
    constexpr int kHalfCols = kSteps * 16, kRowBytes = kWindowCols * 2;
    const unsigned a_base = detail::shared_address(stage.a) +
                            static_cast<unsigned>(a_place(first_row_ + (lane_ & 15), lane_ >> 4));
    const unsigned b_base =
        detail::shared_address(stage.b) +
        static_cast<unsigned>(b_place<kTileCols>(half * kHalfCols + lane_, first_col_ / 8));
    unsigned a[kNumbers][kSteps][kHigh][4];
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const unsigned at = a_base ^ static_cast<unsigned>((half * kSteps + s) * 32);
#pragma unroll
      for (int m = 0; m < kHigh; ++m) {
#pragma unroll
        for (int h = 0; h < kNumbers; ++h) {
          detail::load_fragments(a[h][s][m], at + (m * 16 + h * kTileRows) * kRowBytes);
        }
      }
    }
    unsigned b[kNumbers][2][4];
    const auto load_b = [&](int to, int n) {
      const unsigned at = b_base ^ static_cast<unsigned>(n * 16);
#pragma unroll
      for (int h = 0; h < kNumbers; ++h) {
        detail::load_transposed_fragments(b[h][to], at + h * kTileCols * kRowBytes);
      }
    };
    load_b(0, 0);
#pragma unroll
    for (int n = 0; n < kWide; ++n) {
      const int now = n % 2;
      if (n + 1 < kWide) load_b(1 - now, n + 1);
      const float2 scales =
          *reinterpret_cast<const float2*>(stage.b_scales + first_col_ + n * 8 + lane_ % 4 * 2);
      float high[kHigh][4] = {}, low[kHigh][4] = {};
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        if constexpr (kNumbers == 2) multiply_all(low, a[0][s], b[1][now] + 2 * s);
        multiply_all(high, a[0][s], b[0][now] + 2 * s);
        if constexpr (kNumbers == 2) multiply_all(low, a[1][s], b[0][now] + 2 * s);
      }
#pragma unroll
      for (int m = 0; m < kHigh; ++m) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float product =
              kNumbers == 2 ? fmaf(low[m][i], 1.0f / 2048, high[m][i]) : high[m][i];
          sums_.fragments[m][n][i] =
              fmaf(product, i % 2 == 0 ? scales.x : scales.y, sums_.fragments[m][n][i]);
        }
      }
    }
  }

  const WindowOperands<Types>& op_;
  WindowsInShared<kTileCols, kNumbers>& shared_;
  const int lane_, first_row_, first_col_;
  TileSums<float, kTileCols> sums_;
};

/// Adds up the parts of tiles that several blocks share, and makes by FMAs what is left to them.
template <class Types, int kTileCols>
__global__ void __launch_bounds__(kMultipliers, 4) add_parts(const WindowOperands<Types> op) {
  using Layout = TileLayout<kTileCols>;
  wait_for_kernel_before();
  const LeftToFmas left = *op.workspace.left_to_fmas;
  if (left != LeftToFmas::nothing) {
    const Offset block = Offset{blockIdx.y} * gridDim.x + blockIdx.x;
    const Offset blocks = Offset{gridDim.x} * gridDim.y;
    constexpr int kWarps = kMultipliers / kWarpLanes;
    const Offset warp = block * kWarps + threadIdx.x / kWarpLanes, warps = blocks * kWarps;
    if (left == LeftToFmas::everything) return multiply_scaled_rows(op, warp, warps);
    multiply_misfits_by_fma(op, warp, warps);
  }
  const auto fragment = static_cast<int>(blockIdx.y);
  add_parts_of_fragment(op.shape, op.workspace.partial, fragment,
                        [&](Offset tile, const float(&sums)[4]) {
                          TileWriter<Types, kTileCols>(op, tile, left)
                              .write(fragment / Layout::kWide, fragment % Layout::kWide, sums);
                        });
}

}  // namespace csrkit::gpu

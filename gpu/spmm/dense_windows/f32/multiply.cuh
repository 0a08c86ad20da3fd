// The multiplying warps of a block of dense_windows, and how their sums become C.
#pragma once

#include "gpu/device/launch_early.cuh"
#include "gpu/spmm/dense_windows/f32/rows.cuh"
#include "gpu/spmm/dense_windows/tiles.cuh"

namespace csrkit::gpu {

/// Writes a thread's fragments of sums to a tile of C.
template <int kTileCols>
class TileWriter {
  using Layout = TileLayout<kTileCols>;

 public:
  __device__ TileWriter(const WindowOperands<float>& op, Offset tile)
      : op_(op),
        to_(op.c, op.alpha, op.beta),
        row_(tile / op.shape.col_tiles * kTileRows + Layout::first_row() + threadIdx.x % 32 / 4),
        column_(tile % op.shape.col_tiles * kTileCols + Layout::first_col() + threadIdx.x % 4 * 2) {
  }

  __device__ void write(int m, int n, const float (&sums)[4]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Offset row = row_ + m * 16 + half * 8;
      const float scale = row < op_.c.rows ? __ldg(op_.workspace.row_scales + row) : 0;
      if (scale == 0) continue;  // multiply_rows_by_fma writes it
      const float back = 2 * power_of_two_behind(scale);
      to_.write(row, column_ + n * 8, sums[half * 2] * back, sums[half * 2 + 1] * back);
    }
  }

 private:
  /// 2^kTopExponent / scale.
  __device__ static float power_of_two_behind(float scale) {
    return __uint_as_float(((2 * 127u + kTopExponent) << 23) - __float_as_uint(scale));
  }

  const WindowOperands<float>& op_;
  const PairWriter<float> to_;
  const Offset row_, column_;
};

/// Multiplies one tile of C after another.
template <int kTileCols>
class WindowMultiplier {
  using Layout = TileLayout<kTileCols>;
  static constexpr int kHigh = Layout::kHigh, kWide = Layout::kWide;
  static constexpr int kSteps = kWindowCols / 32;  // of 16 columns of A, in half a window

 public:
  __device__ WindowMultiplier(const WindowOperands<float>& op, WindowsInShared<kTileCols>& shared)
      : op_(op),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x) % 32),
        first_row_(Layout::first_row()),
        first_col_(Layout::first_col()) {}

  /// Multiplies the windows of the units [unit, end). Writes nothing if there are `misfits`.
  __device__ void multiply(Offset unit, Offset end, bool misfits) {
    const auto add = [&](const WindowStage<kTileCols>& stage) {
#pragma unroll 1
      for (int half = 0; half < 2; ++half) add_half(stage, half);
    };
    const auto finish = [&](Offset tile, bool is_whole) {
      if (misfits) return;
      if (is_whole) {
        store(tile);
      } else {
        leave(tile);
      }
    };
    for_tiles(
        op_.shape, shared_, unit, end, [&] { clear(); }, add, finish);
  }

 private:
  __device__ void clear() {
#pragma unroll
    for (int m = 0; m < kHigh; ++m) {
#pragma unroll
      for (int n = 0; n < kWide; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) sums_[m][n][i] = 0;
      }
    }
  }

  /// A window in two halves: the fragments of A in registers are used for all columns. Addresses
  /// differ only in bits that the swizzles of a_place and b_place do not use, so one address each
  /// plus constants is enough.
  __device__ void add_half(const WindowStage<kTileCols>& stage, int half) {
    constexpr int kHalfCols = kSteps * 16, kRowBytes = kWindowCols * 2;
    const unsigned a_base = detail::shared_address(stage.a_hi) +
                            static_cast<unsigned>(a_place(first_row_ + (lane_ & 15), lane_ >> 4));
    const unsigned b_base =
        detail::shared_address(stage.b_hi) +
        static_cast<unsigned>(b_place<kTileCols>(half * kHalfCols + lane_, first_col_ / 8));
    unsigned a_hi[kSteps][kHigh][4], a_lo[kSteps][kHigh][4];
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const unsigned at = a_base ^ static_cast<unsigned>((half * kSteps + s) * 32);
#pragma unroll
      for (int m = 0; m < kHigh; ++m) {
        detail::load_fragments(a_hi[s][m], at + m * 16 * kRowBytes);
        detail::load_fragments(a_lo[s][m], at + (m * 16 + kTileRows) * kRowBytes);
      }
    }
    unsigned b_hi[2][4], b_lo[2][4];
    const auto load_b = [&](int to, int n) {
      const unsigned at = b_base ^ static_cast<unsigned>(n * 16);
      detail::load_transposed_fragments(b_hi[to], at);
      detail::load_transposed_fragments(b_lo[to], at + kTileCols * kRowBytes);
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
#pragma unroll
        for (int m = 0; m < kHigh; ++m) {
          detail::multiply_fragments(low[m], a_hi[s][m], b_lo[now] + 2 * s);
        }
#pragma unroll
        for (int m = 0; m < kHigh; ++m) {
          detail::multiply_fragments(high[m], a_hi[s][m], b_hi[now] + 2 * s);
        }
#pragma unroll
        for (int m = 0; m < kHigh; ++m) {
          detail::multiply_fragments(low[m], a_lo[s][m], b_hi[now] + 2 * s);
        }
      }
#pragma unroll
      for (int m = 0; m < kHigh; ++m) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float product = fmaf(low[m][i], 1.0f / 2048, high[m][i]);
          sums_[m][n][i] = fmaf(product, i % 2 == 0 ? scales.x : scales.y, sums_[m][n][i]);
        }
      }
    }
  }

  /// Stores this block's sums of a tile for add_parts.
  __device__ void leave(Offset tile) const {
    float* to = op_.workspace.partial + op_.shape.first_of_part<kTileCols>(blockIdx.x, tile);
#pragma unroll
    for (int m = 0; m < kHigh; ++m) {
#pragma unroll
      for (int n = 0; n < kWide; ++n) leave_fragment(to, m * kWide + n, sums_[m][n]);
    }
  }

  __device__ void store(Offset tile) const {
    const TileWriter<kTileCols> writer(op_, tile);
#pragma unroll
    for (int m = 0; m < kHigh; ++m) {
#pragma unroll
      for (int n = 0; n < kWide; ++n) writer.write(m, n, sums_[m][n]);
    }
  }

  const WindowOperands<float>& op_;
  WindowsInShared<kTileCols>& shared_;
  const int lane_, first_row_, first_col_;
  float sums_[kHigh][kWide][4];
};

/// Adds up the parts of tiles that several blocks share. If B has misfits, makes all of C by FMAs
/// instead.
template <int kTileCols>
__global__ void __launch_bounds__(kMultipliers) add_parts(const WindowOperands<float> op) {
  using Layout = TileLayout<kTileCols>;
  wait_for_kernel_before();
  if (*op.workspace.all_by_fma != 0) {
    const Offset block = Offset{blockIdx.y} * gridDim.x + blockIdx.x;
    const Offset blocks = Offset{gridDim.x} * gridDim.y;
    return multiply_rows_by_fma(op, true, Offset{threadIdx.x / 32} * blocks + block,
                                blocks * (kMultipliers / 32));
  }
  const auto fragment = static_cast<int>(blockIdx.y);
  add_parts_of_fragment<kTileCols>(op.shape, op.workspace.partial, fragment,
                                   [&](Offset tile, const float(&sums)[4]) {
                                     TileWriter<kTileCols>(op, tile).write(
                                         fragment / Layout::kWide, fragment % Layout::kWide, sums);
                                   });
}

}  // namespace csrkit::gpu

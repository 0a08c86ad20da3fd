// The multiplying warps of a block of dense_windows, and how their sums become C.
#pragma once

#include "gpu/device/launch_early.cuh"
#include "gpu/spmm/dense_windows/rows.cuh"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

/// The sums of a multiplying thread: kHigh x kWide fragments of four. A warp's fragment has 16 rows
/// and 8 columns.
template <int kTileCols>
struct TileLayout {
  static constexpr int kWarpsDown = kTileCols == 32 ? 8 : 4;
  static constexpr int kWarpRows = kTileRows / kWarpsDown;
  static constexpr int kWarpCols = kTileCols / (kMultipliers / 32 / kWarpsDown);
  static constexpr int kHigh = kWarpRows / 16, kWide = kWarpCols / 8;

  __device__ static int first_row() {
    return static_cast<int>(threadIdx.x) / 32 % kWarpsDown * kWarpRows;
  }
  __device__ static int first_col() {
    return static_cast<int>(threadIdx.x) / 32 / kWarpsDown * kWarpCols;
  }
};

/// Writes a thread's fragments of sums to a tile of C.
template <int kTileCols>
class TileWriter {
  using Layout = TileLayout<kTileCols>;

 public:
  __device__ TileWriter(const WindowOperands& op, Offset tile)
      : op_(op),
        row_(tile / op.shape.col_tiles * kTileRows + Layout::first_row() + threadIdx.x % 32 / 4),
        column_(tile % op.shape.col_tiles * kTileCols + Layout::first_col() + threadIdx.x % 4 * 2),
        in_pairs_(op.c.leading_dim % 2 == 0 &&
                  reinterpret_cast<std::uintptr_t>(op.c.data) % 8 == 0) {}

  __device__ void write(int m, int n, const float (&sums)[4]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Offset row = row_ + m * 16 + half * 8;
      const float scale = row < op_.c.rows ? __ldg(op_.workspace.row_scales + row) : 0;
      if (scale == 0) continue;  // multiply_rows_by_fma writes it
      const float back = 2 * power_of_two_behind(scale);
      write_pair(row, column_ + n * 8, sums[half * 2] * back, sums[half * 2 + 1] * back);
    }
  }

 private:
  /// 2^kTopExponent / scale.
  __device__ static float power_of_two_behind(float scale) {
    return __uint_as_float(((2 * 127u + kTopExponent) << 23) - __float_as_uint(scale));
  }
  __device__ void write_pair(Offset row, Offset column, float x, float y) const {
    float* c = op_.c.data + row * op_.c.leading_dim + column;
    const bool has_x = column < op_.c.cols, has_y = column + 1 < op_.c.cols;
    x *= op_.alpha;
    y *= op_.alpha;
    if (op_.beta != 0) {
      if (has_x) x = fmaf(op_.beta, c[0], x);
      if (has_y) y = fmaf(op_.beta, c[1], y);
    }
    if (has_y && in_pairs_) {
      __stcs(reinterpret_cast<float2*>(c), {x, y});
    } else {
      if (has_x) __stcs(c, x);
      if (has_y) __stcs(c + 1, y);
    }
  }

  const WindowOperands& op_;
  const Offset row_, column_;
  const bool in_pairs_;
};

/// Multiplies one tile of C after another.
template <int kTileCols>
class WindowMultiplier {
  using Layout = TileLayout<kTileCols>;
  static constexpr int kHigh = Layout::kHigh, kWide = Layout::kWide;
  static constexpr int kSteps = kWindowCols / 32;  // of 16 columns of A, in half a window

 public:
  __device__ WindowMultiplier(const WindowOperands& op, WindowsInShared<kTileCols>& shared)
      : op_(op),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x) % 32),
        first_row_(Layout::first_row()),
        first_col_(Layout::first_col()) {}

  /// Multiplies the windows of the units [unit, end). Writes nothing if there are `misfits`.
  __device__ void multiply(Offset unit, Offset end, bool misfits) {
    const Offset windows = op_.shape.windows;
    auto to_be_brought = static_cast<int>(end - unit) - kStages;  // windows, after those in flight
    StageTurn turn;
    while (unit < end) {
      const Offset tile = unit / windows;
      const Offset tile_end = min(end, (tile + 1) * windows);
      const bool is_whole = unit == tile * windows && tile_end == (tile + 1) * windows;
      clear();
#pragma unroll 1
      for (auto left = static_cast<int>(tile_end - unit); left > 0; --left) {
        detail::barrier_wait(&shared_.full[turn.stage], turn.parity);
#pragma unroll 1
        for (int half = 0; half < 2; ++half) add_half(shared_.stages[turn.stage], half);
        if (to_be_brought-- > 0) detail::announce_empty(turn.stage);
        turn.next();
      }
      unit = tile_end;
      if (misfits) continue;
      if (is_whole) {
        store(tile);
      } else {
        leave(tile);
      }
    }
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
    const Offset slot = op_.shape.slot_of(blockIdx.x, tile);
    float* to = op_.workspace.partial + (slot * (kTileRows * kTileCols) + threadIdx.x * 4);
#pragma unroll
    for (int m = 0; m < kHigh; ++m) {
#pragma unroll
      for (int n = 0; n < kWide; ++n) {
        __stcg(reinterpret_cast<float4*>(to + (m * kWide + n) * (kMultipliers * 4)),
               {sums_[m][n][0], sums_[m][n][1], sums_[m][n][2], sums_[m][n][3]});
      }
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

  const WindowOperands& op_;
  WindowsInShared<kTileCols>& shared_;
  const int lane_, first_row_, first_col_;
  float sums_[kHigh][kWide][4];
};

/// Adds up the parts of tiles that several blocks share, in the blocks' order, one fragment a
/// thread. Block i handles the tile in which block i of the multiplication ends, if it is the first
/// that does. If B has misfits, makes all of C by FMAs instead.
template <int kTileCols>
__global__ void __launch_bounds__(kMultipliers) add_parts(const WindowOperands op) {
  constexpr int kBatch = 8;
  using Layout = TileLayout<kTileCols>;
  const WindowShape& shape = op.shape;
  wait_for_kernel_before();
  if (*op.workspace.all_by_fma != 0) {
    const Offset block = Offset{blockIdx.y} * gridDim.x + blockIdx.x;
    const Offset blocks = Offset{gridDim.x} * gridDim.y;
    return multiply_rows_by_fma(op, true, Offset{threadIdx.x / 32} * blocks + block,
                                blocks * (kMultipliers / 32));
  }
  const Offset unit = shape.first_unit(Offset{blockIdx.x} + 1);  // after the block's last
  const Offset tile = unit / shape.windows;
  if (unit == tile * shape.windows || shape.first_unit(blockIdx.x) > tile * shape.windows) return;
  const int fragment = static_cast<int>(blockIdx.y);
  const Offset first = blockIdx.x, last = shape.block_of((tile + 1) * shape.windows - 1);
  float sums[4] = {};
  for (Offset block = first; block <= last; block += kBatch) {
    float4 parts[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (block + u > last) continue;
      const Offset slot = shape.slot_of(block + u, tile);
      parts[u] = __ldcg(
          reinterpret_cast<const float4*>(op.workspace.partial + slot * (kTileRows * kTileCols)) +
          fragment * kMultipliers + threadIdx.x);
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (block + u > last) continue;
      sums[0] += parts[u].x;
      sums[1] += parts[u].y;
      sums[2] += parts[u].z;
      sums[3] += parts[u].w;
    }
  }
  TileWriter<kTileCols>(op, tile).write(fragment / Layout::kWide, fragment % Layout::kWide, sums);
}

}  // namespace csrkit::gpu

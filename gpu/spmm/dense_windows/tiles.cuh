// Tiles of C in dense_windows, of every kind: who has which sums, and how they become C.
#pragma once

#include "gpu/spmm/dense_windows/pipeline.cuh"
#include "gpu/spmm/dense_windows/workspace.h"
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

/// Writes pairs of neighbouring sums to C = alpha * sums + beta * C.
template <class Types>
class PairWriter {
  using Accumulate = typename Types::Accumulate;
  using Output = typename Types::Output;

 public:
  __device__ explicit PairWriter(const WindowOperands<Types>& op)
      : op_(op),
        in_pairs_(op.c.leading_dim % 2 == 0 &&
                  reinterpret_cast<std::uintptr_t>(op.c.data) % (2 * sizeof(Output)) == 0) {}

  /// `column` is even. Nothing is written beyond C's columns, nor x if bit 0 of `left_out` is set,
  /// nor y if bit 1 is.
  __device__ void write(Offset row, Offset column, Accumulate x, Accumulate y,
                        unsigned left_out = 0) const {
    Output* c = op_.c.data + row * op_.c.leading_dim + column;
    const bool has_x = column < op_.c.cols && (left_out & 1) == 0;
    const bool has_y = column + 1 < op_.c.cols && (left_out & 2) == 0;
    if (has_x && has_y && in_pairs_) return store<2>({x, y}, c);
    if (has_x) store<1>({x}, c);
    if (has_y) store<1>({y}, c + 1);
  }

 private:
  template <int kWidth>
  __device__ void store(const Pack<Accumulate, kWidth>& sums, Output* c) const {
    Sums<Types, kWidth> out;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) out.item[i] = sums.item[i];
    out.store(c, op_.alpha, op_.beta);
  }

  const WindowOperands<Types>& op_;
  const bool in_pairs_;
};

/// A multiplying thread leaves the four sums of a fragment where take_fragment finds them.
/// Coalesced.
__device__ inline void leave_fragment(float* part, int fragment, const float (&sums)[4]) {
  __stcg(reinterpret_cast<float4*>(part) + fragment * kMultipliers + threadIdx.x,
         {sums[0], sums[1], sums[2], sums[3]});
}
__device__ inline void leave_fragment(double* part, int fragment, const double (&sums)[4]) {
  auto* to = reinterpret_cast<double2*>(part) + fragment * 2 * kMultipliers + threadIdx.x;
  __stcg(to, {sums[0], sums[1]});
  __stcg(to + kMultipliers, {sums[2], sums[3]});
}
__device__ inline void take_fragment(const float* part, int fragment, float (&sums)[4]) {
  const float4 from =
      __ldcg(reinterpret_cast<const float4*>(part) + fragment * kMultipliers + threadIdx.x);
  sums[0] = from.x, sums[1] = from.y, sums[2] = from.z, sums[3] = from.w;
}
__device__ inline void take_fragment(const double* part, int fragment, double (&sums)[4]) {
  const auto* from =
      reinterpret_cast<const double2*>(part) + fragment * 2 * kMultipliers + threadIdx.x;
  const double2 low = __ldcg(from), high = __ldcg(from + kMultipliers);
  sums[0] = low.x, sums[1] = low.y, sums[2] = high.x, sums[3] = high.y;
}

/// A multiplying thread's sums of a tile.
template <class T, int kTileCols>
struct TileSums {
  using Layout = TileLayout<kTileCols>;
  T fragments[Layout::kHigh][Layout::kWide][4];

  __device__ void clear() {
    for_fragments([&](int m, int n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) fragments[m][n][i] = 0;
    });
  }
  /// For add_parts_of_fragment.
  __device__ void leave(T* part) const {
    for_fragments(
        [&](int m, int n) { leave_fragment(part, m * Layout::kWide + n, fragments[m][n]); });
  }
  template <class Writer>
  __device__ void write(const Writer& writer) const {
    for_fragments([&](int m, int n) { writer.write(m, n, fragments[m][n]); });
  }

 private:
  template <class F>
  __device__ static void for_fragments(F f) {
#pragma unroll
    for (int m = 0; m < Layout::kHigh; ++m) {
#pragma unroll
      for (int n = 0; n < Layout::kWide; ++n) f(m, n);
    }
  }
};

/// Adds up the parts of a fragment of a tile that several blocks share, in the blocks' order, and
/// calls write(tile, sums). Block i handles the tile in which block i of the multiplication ends,
/// if it is the first that does.
template <class T, class Write>
__device__ void add_parts_of_fragment(const WindowShape& shape, const T* partial, int fragment,
                                      Write write) {
  constexpr int kBatch = 32 / sizeof(T);
  const Offset unit = shape.first_unit(Offset{blockIdx.x} + 1);  // after the block's last
  const Offset tile = unit / shape.windows;
  if (unit == tile * shape.windows || shape.first_unit(blockIdx.x) > tile * shape.windows) return;
  const Offset first = blockIdx.x, last = shape.block_of((tile + 1) * shape.windows - 1);
  T sums[4] = {};
  for (Offset block = first; block <= last; block += kBatch) {
    T parts[kBatch][4];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (block + u > last) continue;
      take_fragment(partial + shape.first_of_part(block + u, tile), fragment, parts[u]);
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (block + u > last) continue;
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[i] += parts[u][i];
    }
  }
  write(tile, sums);
}

}  // namespace csrkit::gpu

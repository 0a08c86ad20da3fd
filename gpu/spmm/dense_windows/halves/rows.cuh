// Rows that dense_windows multiplies without tensor cores.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/spmm/dense_windows/halves/stages.cuh"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

inline constexpr int kFmaCols = 64;  // of C that a warp makes at once

/// Makes a row of C by FMAs, from column `slice` on, by one warp: each half of it takes every other
/// entry. A lane's four columns are neighbours if kVector is 4, else 16 apart.
template <int kVector, class Types>
__device__ void multiply_slice_by_fma(const WindowOperands<Types>& op, Index row, Index slice) {
  using Value = typename Types::Value;
  constexpr int kHalf = kWarpLanes / 2, kLoads = kFmaCols / kHalf / kVector, kBatch = 4;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes, half = lane / kHalf;
  const Offset begin = op.a.row_begin(row), end = op.a.row_end(row);
  const Index first = slice + lane % kHalf * kVector;
  Sums<Types, kVector> sums[kLoads];
  for (auto& some : sums) some.clear();
  for (Offset at = begin; at < end; at += kWarpLanes) {
    Index column = 0;
    float value = 0;
    if (at + lane < end) {
      column = __ldg(op.a.col_indices + at + lane);
      value = value_at<Types>(op.a, at + lane);
    }
    const int count = static_cast<int>(min(end - at, Offset{kWarpLanes}));
#pragma unroll 1
    for (int batch = half; batch - half < count; batch += 2 * kBatch) {
      // As they are stored: a number that is widened where it is loaded would be waited for.
      Pack<Value, kVector> y[kBatch][kLoads];
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        const Offset from_row = __shfl_sync(kAllLanes, column, batch + 2 * u);
        const Value* from = op.b.data + from_row * op.b.leading_dim + first;
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
          if (batch + 2 * u < count && first + kHalf * i < op.c.cols) {
            y[u][i] = load_kept<kVector>(from + kHalf * i);
          }
        }
      }
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        const float x = __shfl_sync(kAllLanes, value, batch + 2 * u);
        if (batch + 2 * u >= count) continue;
#pragma unroll
        for (int i = 0; i < kLoads; ++i) sums[i].add_product(x, y[u][i]);
      }
    }
  }
  typename Types::Output* c = op.c.data + Offset{row} * op.c.leading_dim + first;
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    sums[i].add_from_lane_apart(kHalf);
    if (half == 0 && first + kHalf * i < op.c.cols) {
      sums[i].store(c + kHalf * i, op.alpha, op.beta);
    }
  }
}

/// Makes the rows that row_of(i) names, i < `rows`, -1 being none. Called by warp `warp` of `warps`
/// in the grid. Warps with neighbouring numbers make the same columns of neighbouring rows: in one
/// block they find each other's rows of B in L1.
template <class Types, class RowOf>
__device__ void multiply_rows_by_fma(const WindowOperands<Types>& op, Offset rows, RowOf row_of,
                                     Offset warp, Offset warps) {
  constexpr int kVector = 4;
  const bool in_vectors = widest_access(op.b, op.c) >= kVector;
  const Offset slices = (Offset{op.c.cols} + kFmaCols - 1) / kFmaCols;
  for (Offset number = warp; number < rows * slices; number += warps) {
    const Index row = row_of(number % rows);
    if (row < 0) continue;
    const auto slice = static_cast<Index>(number / rows) * kFmaCols;
    if (in_vectors) {
      multiply_slice_by_fma<kVector>(op, row, slice);
    } else {
      multiply_slice_by_fma<1>(op, row, slice);
    }
  }
}

/// The rows without a scale, which the analysis lists.
template <class Types>
__device__ void multiply_unscaled_rows(const WindowOperands<Types>& op, Offset warp, Offset warps) {
  const Index* list = op.workspace.fma_rows;
  multiply_rows_by_fma(
      op, *op.workspace.fma_row_count, [list](Offset at) { return list[at]; }, warp, warps);
}

/// All others.
template <class Types>
__device__ void multiply_scaled_rows(const WindowOperands<Types>& op, Offset warp, Offset warps) {
  const float* scales = op.workspace.row_scales;
  const auto row_of = [scales](Offset at) { return scales[at] == 0 ? -1 : static_cast<Index>(at); };
  multiply_rows_by_fma(op, op.c.rows, row_of, warp, warps);
}

/// Whether a column of B is a misfit in any of its parts.
template <int kTileCols, class Types>
__device__ bool is_misfit_in_parts(const WindowOperands<Types>& op, Offset column) {
  const unsigned char* flags = op.workspace.misfits_of_part +
                               column / kTileCols * op.shape.windows * kTileCols +
                               column % kTileCols;
  unsigned any = 0;
#pragma unroll 16  // all loads are needed, so none waits for another
  for (Offset part = 0; part < op.shape.windows; ++part) any |= __ldcg(flags + part * kTileCols);
  return any != 0;
}

/// Makes the columns of C that belong to misfits, one warp an element. Rows without a scale have
/// theirs already.
template <class Types>
__device__ void multiply_misfits_by_fma(const WindowOperands<Types>& op, Offset warp,
                                        Offset warps) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset columns = *op.workspace.misfit_count;
  for (Offset at = warp; at < columns * op.c.rows; at += warps) {
    const auto row = static_cast<Index>(at / columns);
    if (op.workspace.row_scales[row] == 0) continue;
    const Index column = op.workspace.misfit_list[at % columns];
    Sums<Types, 1> sum;
    sum.clear();
    const Offset end = op.a.row_end(row);
    for (Offset entry = op.a.row_begin(row) + lane; entry < end; entry += 32) {
      const typename Types::Value* from =
          op.b.data + Offset{__ldg(op.a.col_indices + entry)} * op.b.leading_dim + column;
      sum.add_product(value_at<Types>(op.a, entry), load_kept<1>(from));
    }
    for (int apart = 16; apart > 0; apart /= 2) sum.add_from_lane_apart(apart);
    if (lane == 0) {
      sum.store(op.c.data + Offset{row} * op.c.leading_dim + column, op.alpha, op.beta);
    }
  }
}

}  // namespace csrkit::gpu

// Rows that dense_windows multiplies without tensor cores.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/spmm/dense_windows/halves/stages.cuh"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

/// Multiplies rows by FMAs, one warp each, 128 columns at a time: all rows if `all`, else those
/// without a scale, which the analysis lists. Called by warp `warp` of `warps` in the grid. Twice
/// as many loads in flight were slower (docs/lab/2026-11-28-spmm-few-windows.md).
template <class Types>
__device__ void multiply_rows_by_fma(const WindowOperands<Types>& op, bool all, Offset warp,
                                     Offset warps) {
  constexpr int kEach = 4, kBatch = 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset rows = all ? op.c.rows : Offset{*op.workspace.fma_row_count};
  for (Offset number = warp; number < rows; number += warps) {
    const auto row = static_cast<Index>(all ? number : op.workspace.fma_rows[number]);
    const Offset begin = op.a.row_begin(row), end = op.a.row_end(row);
    for (Offset first = lane; first - lane < op.c.cols; first += 32 * kEach) {
      float sums[kEach] = {};
      for (Offset at = begin; at < end; at += kBatch) {
        float y[kBatch][kEach], x[kBatch];
#pragma unroll
        for (int u = 0; u < kBatch; ++u) {
          if (at + u < end) {
            x[u] = value_at<Types>(op.a, at + u);
            const typename Types::Value* from =
                op.b.data + Offset{__ldg(op.a.col_indices + at + u)} * op.b.leading_dim + first;
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
              if (first + 32 * i < op.c.cols)
                y[u][i] = widen<float>(load_kept<1>(from + 32 * i).item[0]);
            }
          }
        }
#pragma unroll
        for (int u = 0; u < kBatch; ++u) {
          if (at + u < end) {
#pragma unroll
            for (int i = 0; i < kEach; ++i) sums[i] = fmaf(x[u], y[u][i], sums[i]);
          }
        }
      }
      typename Types::Output* c = op.c.data + Offset{row} * op.c.leading_dim + first;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        if (first + 32 * i >= op.c.cols) continue;
        Sums<Types, 1> out;
        out.item[0] = sums[i];
        out.store(c + 32 * i, op.alpha, op.beta);
      }
    }
  }
}

/// Whether a column of B is a misfit in any of its parts.
template <int kTileCols, class Types>
__device__ bool is_misfit(const WindowOperands<Types>& op, Offset column) {
  const Offset first = column / kTileCols * op.shape.windows;
  for (Offset part = first; part < first + op.shape.windows; ++part) {
    if (op.workspace.misfits_of_part[part * kTileCols + column % kTileCols] != 0) return true;
  }
  return false;
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

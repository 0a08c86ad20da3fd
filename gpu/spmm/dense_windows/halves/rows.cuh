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

}  // namespace csrkit::gpu

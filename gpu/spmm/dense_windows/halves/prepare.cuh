// Before the windows of every multiplication: splits B into parts, its numbers into two halves, and
// meanwhile makes the rows of C that A's analysis left to FMAs.
// Owns     a block makes one part of B, a thread two columns of 4 to 16 of its rows. In the blocks
//          for rows, which come first, a warp makes 64 columns of one row after another
// Reads    B once, coalesced, and for the rows as rows.cuh says
// Launch   256 threads
// Needs    nothing: misfits are marked for the multiplication to find
#pragma once

#include <cuda_fp16.h>

#include "gpu/device/arithmetic.cuh"
#include "gpu/device/cuda_check.h"
#include "gpu/device/launch_early.cuh"
#include "gpu/spmm/dense_windows/halves/extent.cuh"
#include "gpu/spmm/dense_windows/halves/rows.cuh"

namespace csrkit::gpu {

inline constexpr int kPrepareThreads = 256;
inline constexpr Offset kRowBlocks = 2 * kWindowBlocks;  // they begin first, as a row takes longest

// Small blocks, so that every multiprocessor has some.
template <class Types, int kTileCols>
__device__ void split_part(const WindowOperands<Types>& op, Offset part) {
  using Value = typename Types::Value;
  using namespace dense_windows;
  const DeviceDenseView<const Value>& b = op.b;
  const WindowShape& shape = op.shape;
  const WindowWorkspace<float>& workspace = op.workspace;
  constexpr int kNumbers = kHalves<Types>;
  constexpr int kPairs = kTileCols / 2, kGroups = kPrepareThreads / kPairs,
                kRows = kWindowCols / kGroups;
  __shared__ float2 extents[kGroups][kTileCols];
  const int pair = static_cast<int>(threadIdx.x) % kPairs;
  const int group = static_cast<int>(threadIdx.x) / kPairs;
  const Offset column = part / shape.windows * kTileCols + 2 * pair;
  const Offset first_row = part % shape.windows * kWindowCols + group * kRows;
  float x[kRows][2];
  Extent mine[2];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const bool is_there = first_row + i < b.rows && column + j < b.cols;
      const Value* from = b.data + (first_row + i) * b.leading_dim + column + j;
      x[i][j] = is_there ? widen<float>(load_kept<1>(from).item[0]) : 0;
    }
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) mine[j].take(x[i][j]);
    extents[group][2 * pair + j] = {mine[j].largest, mine[j].smallest};
  }
  __syncthreads();
  bool fits = true;
  float scale[2];
  std::byte* to = workspace.b_parts + part * b_part_bytes(kTileCols, kNumbers);
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    Extent all;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) all.take(extents[g][2 * pair + j]);
    const bool column_fits = all.fits(kLeastExponentOfB);
    fits = fits && column_fits;
    const int top = column_fits && all.largest != 0 ? exponent_of(all.largest) : 0;
    scale[j] = power_of_two(kTopExponent - top);
    if (group == 0) {
      workspace.misfits_of_part[part * kTileCols + 2 * pair + j] = column_fits ? 0 : 1;
      reinterpret_cast<float*>(to + kTileCols * kWindowCols * 2 * kNumbers)[2 * pair + j] =
          power_of_two(top - 2 * kTopExponent - 1);
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const float2 scaled = {x[i][0] * scale[0], x[i][1] * scale[1]};
    const __half2 hi = __float22half2_rn(scaled);
    std::byte* place = to + b_place<kTileCols>(group * kRows + i, pair / 4) + pair % 4 * 4;
    *reinterpret_cast<__half2*>(place) = hi;
    if constexpr (kNumbers == 2) {
      const float2 back = __half22float2(hi);
      *reinterpret_cast<__half2*>(place + kTileCols * kWindowCols * 2) =
          __float22half2_rn({(scaled.x - back.x) * 2048.0f, (scaled.y - back.y) * 2048.0f});
    }
  }
  const int misfit = __syncthreads_or(!fits);
  if (threadIdx.x == 0) workspace.misfits[part] = misfit;
}

template <class Types, int kTileCols>
__global__ void __launch_bounds__(kPrepareThreads, 4) prepare(const WindowOperands<Types> op) {
  let_next_kernel_begin();  // lets the multiplication start its setup
  if (blockIdx.x >= kRowBlocks) {
    return split_part<Types, kTileCols>(op, blockIdx.x - kRowBlocks);
  }
  constexpr int kWarps = kPrepareThreads / kWarpLanes;
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  multiply_unscaled_rows(op, warp * kRowBlocks + blockIdx.x, kWarps * kRowBlocks);
}

/// Queues the preparation, before every multiplication.
template <class Types, int kTileCols>
void prepare_windows(const WindowOperands<Types>& operands, cudaStream_t stream) {
  const auto blocks =
      static_cast<unsigned>(kRowBlocks + operands.shape.windows * operands.shape.col_tiles);
  prepare<Types, kTileCols><<<blocks, kPrepareThreads, 0, stream>>>(operands);
  CHECK_LAUNCH("prepare", stream);
}

}  // namespace csrkit::gpu

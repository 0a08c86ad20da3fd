// Before every multiplication of dense_windows: prepares B in parts, its numbers split into two
// halves.
// Owns     a block makes one part of B, a thread two columns of 4 to 16 of its rows
// Reads    B once, coalesced
// Launch   256 threads
// Needs    nothing: misfits are marked for the multiplication to find

#include <cuda_fp16.h>

#include "gpu/device/arithmetic.cuh"
#include "gpu/device/cuda_check.h"
#include "gpu/device/launch_early.cuh"
#include "gpu/spmm/dense_windows/halves/extent.cuh"

namespace csrkit::gpu {

using namespace dense_windows;

namespace {

constexpr int kSplitThreads = 256;

// Small blocks, so that every multiprocessor has some.
template <class Value, int kTileCols>
__device__ void split_part(const DeviceDenseView<const Value>& b, const WindowShape& shape,
                           const WindowWorkspace<float>& workspace, Offset part) {
  constexpr int kNumbers = sizeof(Value) == 2 ? 1 : 2;
  constexpr int kPairs = kTileCols / 2, kGroups = kSplitThreads / kPairs,
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

template <class Value, int kTileCols>
__global__ void __launch_bounds__(kSplitThreads)
    split_parts(DeviceDenseView<const Value> b, WindowShape shape,
                WindowWorkspace<float> workspace) {
  let_next_kernel_begin();  // lets the multiplication start its setup
  split_part<Value, kTileCols>(b, shape, workspace, blockIdx.x);
}

}  // namespace

template <class Value>
void split_b(const DeviceDenseView<const Value>& b, const WindowShape& shape,
             const WindowWorkspace<float>& workspace, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(shape.windows * shape.col_tiles);
  const auto run = [&](auto* kernel) {
    kernel<<<blocks, kSplitThreads, 0, stream>>>(b, shape, workspace);
    CHECK_LAUNCH("split_parts", stream);
  };
  if (shape.tile_cols == 32) return run(split_parts<Value, 32>);
  if (shape.tile_cols == 64) return run(split_parts<Value, 64>);
  run(split_parts<Value, 128>);
}

template void split_b(const DeviceDenseView<const float>&, const WindowShape&,
                      const WindowWorkspace<float>&, cudaStream_t);
template void split_b(const DeviceDenseView<const f16>&, const WindowShape&,
                      const WindowWorkspace<float>&, cudaStream_t);
template void split_b(const DeviceDenseView<const bf16>&, const WindowShape&,
                      const WindowWorkspace<float>&, cudaStream_t);

}  // namespace csrkit::gpu

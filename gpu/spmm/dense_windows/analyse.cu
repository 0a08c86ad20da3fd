// The analysis of dense_windows: scales of A's rows, and its entries window by window, each in two
// halves.
// Owns     a block a row of A: its scale and its entries' places (a block, because rows may be
//          long); a warp a row of tiles: where its windows begin
// Reads    A twice, coalesced; one atomic addition for a row's entries in a window
// Launch   128 threads
// Needs    nothing: rows that cannot be scaled get the scale 0, and the multiplication makes them
//          by FMAs

#include <cuda_fp16.h>

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmm/dense_windows/extent.cuh"

namespace csrkit::gpu {

using namespace dense_windows;

namespace {

constexpr int kThreads = 128;

/// Calls f(value, column, window, first lane with an entry of the same window, number of such
/// lanes, whether this lane has an entry) for the entries of a row, 32 at a time in each warp of
/// the block. The next entries are loaded meanwhile.
template <class F>
__device__ void for_runs(const DeviceCsrView<float>& a, Index row, F f) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset end = a.row_end(row);
  Offset entry = a.row_begin(row) + threadIdx.x;
  const auto load = [&](Offset at, Index& col, float& value) {
    col = at < end ? __ldg(a.col_indices + at) : kMaxIndex;
    value = at < end && a.values != nullptr ? __ldg(a.values + at) : 1.0f;
  };
  Index next_col;
  float next_value;
  load(entry, next_col, next_value);
  for (; entry - lane < end; entry += kThreads) {
    const Index col = next_col;
    const float value = next_value;
    load(entry + kThreads, next_col, next_value);
    const bool is_there = entry < end;
    const Index window = is_there ? col / kWindowCols : -1;
    const Index before = __shfl_up_sync(kAllLanes, window, 1);
    const unsigned heads = __ballot_sync(kAllLanes, lane == 0 || window != before);
    const int head = 31 - __clz(static_cast<int>(heads & (kAllLanes >> (31 - lane))));
    const unsigned later = lane == 31 ? 0 : heads >> (lane + 1) << (lane + 1);
    const int next_head = later == 0 ? 32 : __ffs(static_cast<int>(later)) - 1;
    f(value, col, window, head, next_head - head, is_there);
  }
}

/// A block a row: its scale, and its entries in every window.
__global__ void __launch_bounds__(kThreads)
    scale_rows_and_count(DeviceCsrView<float> a, WindowShape shape, WindowWorkspace workspace) {
  constexpr int kWarps = kThreads / 32;
  __shared__ float2 extents[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const auto row = static_cast<Index>(blockIdx.x);
  unsigned* counts = workspace.counts + row / kTileRows * shape.windows;
  Extent extent;
  for_runs(a, row, [&](float value, Index, Index window, int head, int size, bool is_there) {
    if (!is_there) return;
    extent.take(value);
    if (head == lane) atomicAdd(counts + window, static_cast<unsigned>(size));
  });
  for (int apart = 16; apart > 0; apart /= 2) {
    extent.take({__shfl_xor_sync(kAllLanes, extent.largest, apart),
                 __shfl_xor_sync(kAllLanes, extent.smallest, apart)});
  }
  if (lane == 0) extents[warp] = {extent.largest, extent.smallest};
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int other = 1; other < kWarps; ++other) extent.take(extents[other]);
  const bool fits =
      a.row_end(row) - a.row_begin(row) >= kFewestEntries && extent.fits(kLeastExponentOfA);
  const int top = fits && extent.largest != 0 ? exponent_of(extent.largest) : 0;
  workspace.row_scales[row] = fits ? power_of_two(kTopExponent - top) : 0;
  if (!fits) workspace.fma_rows[atomicAdd(workspace.fma_row_count, 1u)] = row;
}

/// A warp a row of tiles: finds where its windows begin.
__global__ void __launch_bounds__(kThreads)
    find_begins(DeviceCsrView<float> a, WindowShape shape, WindowWorkspace workspace) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset tile = Offset{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  if (tile >= shape.row_tiles) return;
  Offset begin = a.row_begin(static_cast<Index>(tile * kTileRows));
  const Offset first_window = tile * shape.windows;
  for (Offset at = 0; at < shape.windows; at += 32) {
    const bool is_there = at + lane < shape.windows;
    const Offset count = is_there ? Offset{workspace.counts[first_window + at + lane]} : 0;
    Offset sum = count;
    for (int apart = 1; apart < 32; apart *= 2) {
      const Offset other = __shfl_up_sync(kAllLanes, sum, apart);
      if (lane >= apart) sum += other;
    }
    if (is_there) {
      workspace.begins[first_window + at + lane] = begin + sum - count;
      // now counts the entries that are in their place
      workspace.counts[first_window + at + lane] = 0;
    }
    begin += __shfl_sync(kAllLanes, sum, 31);
  }
  if (tile + 1 == shape.row_tiles && lane == 0)
    workspace.begins[first_window + shape.windows] = begin;
}

__global__ void __launch_bounds__(kThreads)
    put_entries(DeviceCsrView<float> a, WindowShape shape, WindowWorkspace workspace) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto row = static_cast<Index>(blockIdx.x);
  const Offset tile = row / kTileRows;
  const float scale = workspace.row_scales[row];
  for_runs(a, row, [&](float value, Index col, Index window, int head, int size, bool is_there) {
    const Offset at = tile * shape.windows + max(window, 0);
    Offset place = 0;
    if (is_there && head == lane) {
      place = workspace.begins[at] + atomicAdd(workspace.counts + at, static_cast<unsigned>(size));
    }
    place = __shfl_sync(kAllLanes, place, head) + lane - head;
    if (!is_there) return;
    const float scaled = scale == 0 ? 0 : value * scale;
    const __half hi = __float2half_rn(scaled);
    const __half lo = __float2half_rn((scaled - __half2float(hi)) * 2048.0f);
    const int in_window = col % kWindowCols;
    workspace.entries[place] = {
        static_cast<unsigned>(a_place(row % kTileRows, in_window / 8) + in_window % 8 * 2),
        __half_as_ushort(hi) | static_cast<unsigned>(__half_as_ushort(lo)) << 16};
  });
}

}  // namespace

void fill_windows(const DeviceCsrView<float>& a, const WindowShape& shape,
                  const WindowWorkspace& workspace, cudaStream_t stream) {
  if (shape.blocks == 0) return;
  const auto windows = static_cast<std::size_t>(shape.row_tiles * shape.windows);
  CHECK_CUDA(cudaMemsetAsync(workspace.counts, 0, windows * sizeof(unsigned), stream));
  CHECK_CUDA(cudaMemsetAsync(workspace.fma_row_count, 0, sizeof(unsigned), stream));
  const auto rows = static_cast<unsigned>(a.rows);
  scale_rows_and_count<<<rows, kThreads, 0, stream>>>(a, shape, workspace);
  CHECK_LAUNCH("scale_rows_and_count", stream);
  constexpr Offset kWarps = kThreads / 32;
  const auto tile_blocks = static_cast<unsigned>((shape.row_tiles + kWarps - 1) / kWarps);
  find_begins<<<tile_blocks, kThreads, 0, stream>>>(a, shape, workspace);
  CHECK_LAUNCH("find_begins", stream);
  put_entries<<<rows, kThreads, 0, stream>>>(a, shape, workspace);
  CHECK_LAUNCH("put_entries", stream);
}

}  // namespace csrkit::gpu

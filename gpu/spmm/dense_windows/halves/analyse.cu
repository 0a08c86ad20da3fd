// The analysis of dense_windows: scales of A's rows, and its entries window by window, each in two
// halves.
// Owns     a block a row of A: its scale and its entries' places (a block, because rows may be
//          long); a warp a row of tiles: where its windows begin (runs.cuh)
// Reads    A twice, coalesced; one atomic addition for a row's entries in a window
// Launch   128 threads
// Needs    nothing: rows that cannot be scaled get the scale 0 and go to a list, and every
//          multiplication makes them by FMAs while it prepares B

#include <cuda_fp16.h>

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/dense_windows/halves/extent.cuh"
#include "gpu/spmm/dense_windows/runs.cuh"

namespace csrkit::gpu {

using namespace dense_windows;

namespace {

/// A block a row: its scale, and its entries in every window.
template <class Value>
__global__ void __launch_bounds__(kRunThreads)
    scale_rows_and_count(DeviceCsrView<Value> a, WindowShape shape,
                         WindowWorkspace<float> workspace) {
  constexpr int kWarps = kRunThreads / 32;
  __shared__ float2 extents[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const auto row = static_cast<Index>(blockIdx.x);
  unsigned* counts = workspace.counts + row / kTileRows * shape.windows;
  Extent extent;
  for_runs<kWindowCols>(a, row,
                        [&](float value, Index, Index window, int head, int size, bool is_there) {
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

template <class Value>
__global__ void __launch_bounds__(kRunThreads)
    put_entries(DeviceCsrView<Value> a, WindowShape shape, WindowWorkspace<float> workspace) {
  const auto row = static_cast<Index>(blockIdx.x);
  const Offset tile = row / kTileRows;
  const float scale = workspace.row_scales[row];
  for_runs<kWindowCols>(
      a, row, [&](float value, Index col, Index window, int head, int size, bool is_there) {
        const Offset at = tile * shape.windows + max(window, 0);
        const Offset place =
            place_of_entry(workspace.begins, workspace.counts, at, head, size, is_there);
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

template <class Value, class Accumulate>
void fill_windows(const DeviceCsrView<Value>& a, const WindowShape& shape,
                  const WindowWorkspace<Accumulate>& workspace, cudaStream_t stream) {
  if (shape.blocks == 0) return;
  const auto windows = static_cast<std::size_t>(shape.row_tiles * shape.windows);
  CHECK_CUDA(cudaMemsetAsync(workspace.counts, 0, windows * sizeof(unsigned), stream));
  CHECK_CUDA(cudaMemsetAsync(workspace.fma_row_count, 0, sizeof(unsigned), stream));
  const auto rows = static_cast<unsigned>(a.rows);
  scale_rows_and_count<<<rows, kRunThreads, 0, stream>>>(a, shape, workspace);
  CHECK_LAUNCH("scale_rows_and_count", stream);
  find_begins<<<blocks_for_begins(shape), kRunThreads, 0, stream>>>(a, shape, workspace.counts,
                                                                    workspace.begins);
  CHECK_LAUNCH("find_begins", stream);
  put_entries<<<rows, kRunThreads, 0, stream>>>(a, shape, workspace);
  CHECK_LAUNCH("put_entries", stream);
}

template void fill_windows(const DeviceCsrView<float>&, const WindowShape&,
                           const WindowWorkspace<float>&, cudaStream_t);
template void fill_windows(const DeviceCsrView<f16>&, const WindowShape&,
                           const WindowWorkspace<float>&, cudaStream_t);
template void fill_windows(const DeviceCsrView<bf16>&, const WindowShape&,
                           const WindowWorkspace<float>&, cudaStream_t);

}  // namespace csrkit::gpu

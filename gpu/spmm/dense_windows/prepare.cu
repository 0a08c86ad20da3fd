// What dense_windows does before it multiplies: the analysis, and numbers in two halves.
// Owns     split_parts: a block makes one part of B, a thread two columns of 4 to 16 of its rows;
//          the analysis: a block a row of A, its scale and its entries' places, so that a long row
//          is not one warp's way to go; a warp a row of tiles, where their windows begin
// Reads    B once, coalesced; A twice, coalesced, counting by atomic additions, one for a row's
//          entries in a window
// Launch   128 threads, 256 for B
// Needs    nothing: misfits are marked for the multiplication to find

#include <cuda_fp16.h>

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/device/workspace_layout.h"
#include "gpu/spmm/dense_windows/windows.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 128, kSplitThreads = 256;

__device__ int exponent_of(float x) {
  return static_cast<int>(__float_as_uint(x) >> 23 & 0xffu) - 127;
}
__device__ float power_of_two(int exponent) {
  return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23);
}

/// The largest and the smallest magnitude that is not 0; of no numbers, 0 and infinity.
struct Extent {
  float largest = 0, smallest = INFINITY;

  __device__ void take(float x) {
    const float size = fabsf(x);
    largest = size > largest || size != size ? size : largest;  // a NaN stays
    if (size != 0) smallest = fminf(smallest, size);
  }
  __device__ void take(float2 other) {
    largest = other.x > largest || other.x != other.x ? other.x : largest;
    smallest = fminf(smallest, other.y);
  }
  __device__ bool fits(int least_exponent) const {
    if (largest == 0) return true;
    if (!(largest < INFINITY)) return false;
    const int top = exponent_of(largest);
    return top >= least_exponent && top <= kMostExponent &&
           exponent_of(smallest) >= top - kExponentRange;
  }
};

// Blocks are small so that every multiprocessor has some.
template <int kTileCols>
__device__ void split_part(const DeviceDenseView<const float>& b, const WindowShape& shape,
                           const WindowWorkspace& workspace, Offset part) {
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
      x[i][j] = is_there ? __ldg(b.data + (first_row + i) * b.leading_dim + column + j) : 0;
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
  std::byte* to = workspace.b_parts + part * shape.b_part_bytes();
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    Extent all;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) all.take(extents[g][2 * pair + j]);
    fits = fits && all.fits(kLeastExponentOfB);
    const int top = fits && all.largest != 0 ? exponent_of(all.largest) : 0;
    scale[j] = power_of_two(kTopExponent - top);
    if (group == 0) {
      reinterpret_cast<float*>(to + kTileCols * kWindowCols * 4)[2 * pair + j] =
          power_of_two(top - 2 * kTopExponent - 1);
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const float2 scaled = {x[i][0] * scale[0], x[i][1] * scale[1]};
    const __half2 hi = __float22half2_rn(scaled);
    const float2 back = __half22float2(hi);
    const __half2 lo =
        __float22half2_rn({(scaled.x - back.x) * 2048.0f, (scaled.y - back.y) * 2048.0f});
    std::byte* place = to + b_place<kTileCols>(group * kRows + i, pair / 4) + pair % 4 * 4;
    *reinterpret_cast<__half2*>(place) = hi;
    *reinterpret_cast<__half2*>(place + kTileCols * kWindowCols * 2) = lo;
  }
  const int misfit = __syncthreads_or(!fits);
  if (threadIdx.x == 0) workspace.misfits[part] = misfit;
}

template <int kTileCols>
__global__ void __launch_bounds__(kSplitThreads)
    split_parts(DeviceDenseView<const float> b, WindowShape shape, WindowWorkspace workspace) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();  // the multiplication may start to get ready
#endif
  split_part<kTileCols>(b, shape, workspace, blockIdx.x);
}

/// Calls f(value, column, window, the first lane with an entry of the same window, how many there
/// are from that one on, whether there is an entry) for the entries of a row, 32 of them a warp of
/// the block. The next ones are on their way in the meantime.
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
}

/// A warp a row of tiles: its windows begin one behind the other.
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
      workspace.counts[first_window + at + lane] = 0;  // from here on: how many are in their place
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

WindowShape::WindowShape(const SpmmSizes& sizes)
    : rows(sizes.rows), cols(sizes.cols), dense_cols(sizes.dense_cols), nnz(sizes.nnz) {
  tile_cols = dense_cols <= 32 ? 32 : dense_cols <= 64 ? 64 : 128;
  row_tiles = (Offset{rows} + kTileRows - 1) / kTileRows;
  col_tiles = (Offset{dense_cols} + tile_cols - 1) / tile_cols;
  windows = (Offset{cols} + kWindowCols - 1) / kWindowCols;
  if (windows == 0) windows = 1;  // C is written where A has no columns, too
  blocks = std::min(kWindowBlocks, units());
  if (blocks == 0) return;
  units_each = units() / blocks;
  longer_blocks = units() % blocks;
}

std::uint64_t lay_out_windows(const WindowShape& shape, std::byte* base, WindowWorkspace* workspace,
                              std::uint64_t* analysis_bytes) {
  WorkspaceLayout layout;
  const auto place = [&](auto*& pointer, std::uint64_t position) {
    using Pointer = std::remove_reference_t<decltype(pointer)>;
    if (base != nullptr) pointer = reinterpret_cast<Pointer>(base + position);
  };
  WindowWorkspace places;
  const Offset windows = shape.row_tiles * shape.windows;
  const Offset b_parts = shape.windows * shape.col_tiles;
  place(places.begins, layout.reserve<Offset>(windows + 1));
  place(places.row_scales, layout.reserve<float>(shape.rows));
  place(places.entries, layout.reserve<WindowEntry>(shape.nnz));
  if (analysis_bytes != nullptr) *analysis_bytes = layout.bytes();
  place(places.counts, layout.reserve<unsigned>(windows));
  place(places.misfits, layout.reserve<int>(b_parts));
  place(places.b_parts,
        layout.reserve_bytes(static_cast<std::uint64_t>(b_parts * shape.b_part_bytes())));
  place(places.partial,
        layout.reserve<float>(shape.blocks * 2 * Offset{kTileRows} * shape.tile_cols));
  place(places.all_by_fma, layout.reserve<int>(1));
  if (workspace != nullptr) *workspace = places;
  return layout.bytes();
}

void fill_windows(const DeviceCsrView<float>& a, const WindowShape& shape,
                  const WindowWorkspace& workspace, cudaStream_t stream) {
  if (shape.blocks == 0) return;
  const auto windows = static_cast<std::size_t>(shape.row_tiles * shape.windows);
  CHECK_CUDA(cudaMemsetAsync(workspace.counts, 0, windows * sizeof(unsigned), stream));
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

void split_b(const DeviceDenseView<const float>& b, const WindowShape& shape,
             const WindowWorkspace& workspace, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(shape.windows * shape.col_tiles);
  const auto run = [&](auto* kernel) {
    kernel<<<blocks, kSplitThreads, 0, stream>>>(b, shape, workspace);
    CHECK_LAUNCH("split_parts", stream);
  };
  if (shape.tile_cols == 32) return run(split_parts<32>);
  if (shape.tile_cols == 64) return run(split_parts<64>);
  run(split_parts<128>);
}

}  // namespace csrkit::gpu

// The parts of the analysis of dense_windows that all kinds share: which entries of a row lie in
// one window, and where the entries of a window begin.
#pragma once

#include "gpu/device/arithmetic.cuh"
#include "gpu/device/device_csr.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmm/dense_windows/shape.h"

namespace csrkit::gpu::dense_windows {

inline constexpr int kRunThreads = 128;

/// Calls f(value, column, window, first lane with an entry of the same window, number of such
/// lanes, whether this lane has an entry) for the entries of a row, 32 at a time in each warp of
/// the block. The next entries are loaded meanwhile.
template <int kWindowCols, class Value, class F>
__device__ void for_runs(const DeviceCsrView<Value>& a, Index row, F f) {
  using Number = std::conditional_t<std::is_same_v<Value, double>, double, float>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset end = a.row_end(row);
  Offset entry = a.row_begin(row) + threadIdx.x;
  const auto load = [&](Offset at, Index& col, Number& value) {
    col = at < end ? __ldg(a.col_indices + at) : kMaxIndex;
    value = at < end && a.values != nullptr ? widen<Number>(load_kept<1>(a.values + at).item[0])
                                            : Number{1};
  };
  Index next_col;
  Number next_value;
  load(entry, next_col, next_value);
  for (; entry - lane < end; entry += kRunThreads) {
    const Index col = next_col;
    const Number value = next_value;
    load(entry + kRunThreads, next_col, next_value);
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

/// A warp a row of tiles: finds where its windows begin.
template <class T>
__global__ void __launch_bounds__(kRunThreads)
    find_begins(DeviceCsrView<T> a, WindowShape shape, unsigned* counts, Offset* begins) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset tile = Offset{blockIdx.x} * (kRunThreads / 32) + threadIdx.x / 32;
  if (tile >= shape.row_tiles) return;
  Offset begin = a.row_begin(static_cast<Index>(tile * kTileRows));
  const Offset first_window = tile * shape.windows;
  for (Offset at = 0; at < shape.windows; at += 32) {
    const bool is_there = at + lane < shape.windows;
    const Offset count = is_there ? Offset{counts[first_window + at + lane]} : 0;
    Offset sum = count;
    for (int apart = 1; apart < 32; apart *= 2) {
      const Offset other = __shfl_up_sync(kAllLanes, sum, apart);
      if (lane >= apart) sum += other;
    }
    if (is_there) {
      begins[first_window + at + lane] = begin + sum - count;
      // now counts the entries that are in their place
      counts[first_window + at + lane] = 0;
    }
    begin += __shfl_sync(kAllLanes, sum, 31);
  }
  if (tile + 1 == shape.row_tiles && lane == 0) begins[first_window + shape.windows] = begin;
}

/// The blocks of find_begins.
inline unsigned blocks_for_begins(const WindowShape& shape) {
  constexpr Offset kWarps = kRunThreads / 32;
  return static_cast<unsigned>((shape.row_tiles + kWarps - 1) / kWarps);
}

/// The place of an entry in the lists of windows: a run of a row's entries takes places at once.
/// By all lanes of a warp, with the arguments that for_runs gives.
__device__ inline Offset place_of_entry(const Offset* begins, unsigned* counts, Offset window,
                                        int head, int size, bool is_there) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Offset place = 0;
  if (is_there && head == lane) {
    place = begins[window] + atomicAdd(counts + window, static_cast<unsigned>(size));
  }
  return __shfl_sync(kAllLanes, place, head) + lane - head;
}

}  // namespace csrkit::gpu::dense_windows

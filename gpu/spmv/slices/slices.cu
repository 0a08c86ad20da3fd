#include <cub/block/block_radix_sort.cuh>

#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/slices/slices.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

namespace {

/// One warp per slice; the last element of `widths` is the longest.
__global__ void measure_slices(DeviceCsrView<void> a, SlicesView slices, Offset* widths,
                               unsigned long long* longest) {
  const Offset slice = (Offset{blockIdx.x} * kSpmvThreads + threadIdx.x) / kSliceRows;
  if (slice >= slices.count) return;
  const int lane = static_cast<int>(threadIdx.x % kSliceRows);
  const Index row = slices.row_of(static_cast<Index>(slice), lane);
  const Offset length = row < 0 ? 0 : a.row_end(row) - a.row_begin(row);
  // A row has fewer entries than there are columns, so 32 bits hold its length.
  const unsigned width = __reduce_max_sync(kAllLanes, static_cast<unsigned>(length));
  if (lane != 0) return;
  widths[slice] = width;
  atomicMax(longest, static_cast<unsigned long long>(width));
}

/// One block per window: its rows by falling length, equal ones in their order.
constexpr int kSortThreads = 512, kRowsOfAThread = Slices::kSortWindow / kSortThreads;
__global__ void __launch_bounds__(kSortThreads)
    sort_windows(DeviceCsrView<void> a, int bits_of_lengths, Index* rows_of_places) {
  using Sort = cub::BlockRadixSort<unsigned, kSortThreads, kRowsOfAThread, Index>;
  __shared__ typename Sort::TempStorage storage;
  const Offset first =
      Offset{blockIdx.x} * Slices::kSortWindow + threadIdx.x * Offset{kRowsOfAThread};
  unsigned lengths[kRowsOfAThread];
  Index rows[kRowsOfAThread];
#pragma unroll
  for (int i = 0; i < kRowsOfAThread; ++i) {
    // Rows that do not exist come last, as they are empty and stand behind all others.
    const bool is_there = first + i < a.rows;
    rows[i] = is_there ? static_cast<Index>(first + i) : -1;
    lengths[i] = is_there ? static_cast<unsigned>(a.row_end(rows[i]) - a.row_begin(rows[i])) : 0;
  }
  Sort(storage).SortDescending(lengths, rows, 0, bits_of_lengths);
#pragma unroll
  for (int i = 0; i < kRowsOfAThread; ++i) {
    if (first + i < a.rows) rows_of_places[first + i] = rows[i];
  }
}

DeviceBuffer<Index> sorted_rows(const DeviceCsrView<void>& a, Offset longest,
                                DeviceMemory& memory) {
  DeviceBuffer<Index> rows(memory, a.rows, "rows sorted by length");
  int bits = 1;
  while (longest >> bits > 0) ++bits;
  const auto windows =
      static_cast<unsigned>((Offset{a.rows} + Slices::kSortWindow - 1) / Slices::kSortWindow);
  sort_windows<<<windows, kSortThreads, 0, memory.stream()>>>(a, bits, rows.data());
  CHECK_LAUNCH("sort_windows", memory.stream());
  return rows;
}

struct Measured {
  DeviceBuffer<Offset> first_steps;
  Offset steps = 0;
  Offset longest = 0;
};

Measured measure(const DeviceCsrView<void>& a, const SlicesView& slices, DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  Measured measured;
  measured.first_steps = DeviceBuffer<Offset>(memory, Offset{slices.count} + 1, "starts of slices");
  const DeviceBuffer<unsigned long long> longest(memory, 1, "the longest slice");
  CHECK_CUDA(cudaMemsetAsync(longest.data(), 0, longest.size_bytes(), stream));
  CHECK_CUDA(
      cudaMemsetAsync(measured.first_steps.data(), 0, measured.first_steps.size_bytes(), stream));
  if (slices.count == 0) return measured;
  measure_slices<<<spmv_blocks(Offset{slices.count} * kSliceRows), kSpmvThreads, 0, stream>>>(
      a, slices, measured.first_steps.data(), longest.data());
  CHECK_LAUNCH("measure_slices", stream);
  exclusive_sum(memory, measured.first_steps.data(), Offset{slices.count} + 1);
  measured.steps = fetch(measured.first_steps.data() + slices.count, stream);
  measured.longest = fetch(reinterpret_cast<const Offset*>(longest.data()), stream);
  return measured;
}

}  // namespace

Slices::Slices(const DeviceCsrView<void>& a, DeviceMemory& memory)
    : rows_(a.rows), count_(static_cast<Index>((Offset{a.rows} + kSliceRows - 1) / kSliceRows)) {
  // Sorting costs 4 bytes a row and scatters y: only if padding exceeds a sixteenth.
  constexpr Offset kTolerated = 16;
  Measured natural = measure(a, {rows_, count_, nullptr, 0, nullptr}, memory);
  Measured* kept = &natural;
  Measured sorted;
  if (natural.steps * kSliceRows - a.nnz > a.nnz / kTolerated + kSliceRows) {
    DeviceBuffer<Index> rows = sorted_rows(a, natural.longest, memory);
    sorted = measure(a, {rows_, count_, nullptr, 0, rows.data()}, memory);
    if (sorted.steps < natural.steps - natural.steps / kTolerated) {
      rows_of_places_ = std::move(rows);
      kept = &sorted;
    }
  }
  steps_ = kept->steps;
  longest_ = kept->longest;
  if (longest_ * count_ - steps_ <= steps_ / kTolerated) {
    steps_ = longest_ * count_;
  } else {
    first_steps_ = std::move(kept->first_steps);
  }
}

int warps_per_slice(const Slices& slices) {
  constexpr Offset kWantedWarps = 132 * 16, kFewSteps = 8;
  const Offset count = slices.view().count;
  int warps = 1;
  while (warps < 8 && count * warps < kWantedWarps && count * warps * kFewSteps < slices.steps()) {
    warps *= 2;
  }
  return warps;
}

}  // namespace csrkit::gpu

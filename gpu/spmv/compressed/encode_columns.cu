#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/compressed/encode.h"
#include "gpu/spmv/slices/slice_product.cuh"

namespace csrkit::gpu {

namespace {

/// One lane's row of a slice.
struct LaneRow {
  Offset begin = 0;
  Offset length = 0;
};

__device__ LaneRow lane_row(const DeviceCsrView<void>& a, const SlicesView& slices,
                            const SliceShare& share) {
  const Index row = slices.row_of(share.slice, share.lane);
  if (row < 0) return {};
  const Offset begin = a.row_begin(row);
  return {begin, a.row_end(row) - begin};
}

/// The step's column of this lane, -1 if its row has ended.
__device__ Index column_at(const DeviceCsrView<void>& a, const LaneRow& row, Index step) {
  return step < row.length ? a.col_indices[row.begin + step] : -1;
}

/// The lowest column of a step. The columns are below 2^31, so as unsigned numbers -1 is above all.
__device__ Index base_of(Index col) {
  return static_cast<Index>(__reduce_min_sync(kAllLanes, static_cast<unsigned>(col)));
}

/// The steps of a slice that one warp goes through: blockIdx.y says which.
constexpr Index kStepsOfAStretch = 128;
struct Steps {
  Index begin, end;
};
__device__ Steps steps_of_stretch(Index width) {
  const Index begin = static_cast<Index>(blockIdx.y) * kStepsOfAStretch;
  return {begin, min(width, begin + kStepsOfAStretch)};
}
dim3 stretches_of_slices(const Slices& slices) {
  // Fewer than kMaxGridY: require_short_rows refuses rows that need more on cards of today.
  const Offset stretches = (slices.longest() + kStepsOfAStretch - 1) / kStepsOfAStretch;
  return {slice_blocks(slices.view().count, 1),
          static_cast<unsigned>(std::max<Offset>(stretches, 1))};
}

/// One warp per stretch of a slice: raises the bytes of its differences to what it needs.
__global__ void measure_differences(DeviceCsrView<void> a, SlicesView slices,
                                    unsigned long long* bytes) {
  const SliceShare share = slice_share(1);
  if (share.slice >= slices.count) return;
  const Index width = slices.steps_of(share.slice);
  const Steps steps = steps_of_stretch(width);
  if (steps.begin >= steps.end) return;
  const LaneRow row = lane_row(a, slices, share);
  int widest = 0;
  for (Index step = steps.begin; step < steps.end; ++step) {
    const Index col = column_at(a, row, step);
    const Index base = base_of(col);
    const bool is_run = __all_sync(kAllLanes, col == base + share.lane) != 0;
    const unsigned difference = col < 0 ? 0u : static_cast<unsigned>(col - base);
    widest = max(widest, difference_bytes(is_run, __reduce_max_sync(kAllLanes, difference)));
  }
  if (share.lane != 0) return;
  atomicMax(bytes + share.slice,
            static_cast<unsigned long long>(Offset{width} * kSliceRows * widest));
}

template <class Stored>
__device__ void put(unsigned char* differences, Offset at, Index base, Index col) {
  reinterpret_cast<Stored*>(differences)[at] =
      col < 0 ? static_cast<Stored>(~Stored{0}) : static_cast<Stored>(col - base);
}

/// One warp per stretch of a slice.
__global__ void store_differences(DeviceCsrView<void> a, SlicesView slices, const Offset* starts,
                                  CompressedSlice* headers, Index* bases,
                                  unsigned char* differences) {
  const SliceShare share = slice_share(1);
  if (share.slice >= slices.count) return;
  const LaneRow row = lane_row(a, slices, share);
  const Offset first = slices.first_step(share.slice);
  const Index width = slices.steps_of(share.slice);
  const Offset start = starts[share.slice];
  const int bytes_of_one =
      width == 0 ? 0 : static_cast<int>((starts[share.slice + 1] - start) / width / kSliceRows);
  if (share.lane == 0 && blockIdx.y == 0) {
    headers[share.slice] = {static_cast<std::uint32_t>(first),
                            static_cast<std::uint32_t>(start / kSliceRows), width, bytes_of_one};
  }
  const Steps steps = steps_of_stretch(width);
  for (Index step = steps.begin; step < steps.end; ++step) {
    const Index col = column_at(a, row, step);
    const Index base = base_of(col);
    if (share.lane == 0) bases[first + step] = base;
    const Offset at = Offset{step} * kSliceRows + share.lane;
    if (bytes_of_one == 1) put<std::uint8_t>(differences + start, at, base, col);
    if (bytes_of_one == 2) put<std::uint16_t>(differences + start, at, base, col);
    if (bytes_of_one == 4) put<std::uint32_t>(differences + start, at, base, col);
  }
}

}  // namespace

void EncodedColumns::measure(const DeviceCsrView<void>& a, const Slices& slices,
                             DeviceMemory& memory) {
  const SlicesView view = slices.view();
  const cudaStream_t stream = memory.stream();
  starts_ = DeviceBuffer<Offset>(memory, Offset{view.count} + 1, "starts of differences");
  CHECK_CUDA(cudaMemsetAsync(starts_.data(), 0, starts_.size_bytes(), stream));
  if (view.count == 0) return;
  measure_differences<<<stretches_of_slices(slices), kSliceThreads, 0, stream>>>(
      a, view, reinterpret_cast<unsigned long long*>(starts_.data()));
  CHECK_LAUNCH("measure_differences", stream);
  exclusive_sum(memory, starts_.data(), starts_.size());
  difference_bytes_ = fetch(starts_.data() + view.count, stream);
}

void EncodedColumns::store(const DeviceCsrView<void>& a, const Slices& slices,
                           DeviceMemory& memory) {
  const SlicesView view = slices.view();
  slices_ = DeviceBuffer<CompressedSlice>(memory, view.count, "compressed slices");
  bases_ = DeviceBuffer<Index>(memory, slices.steps(), "bases of columns");
  differences_ = DeviceBuffer<unsigned char>(memory, difference_bytes_, "differences of columns");
  if (view.count == 0) return;
  store_differences<<<stretches_of_slices(slices), kSliceThreads, 0, memory.stream()>>>(
      a, view, starts_.data(), slices_.data(), bases_.data(), differences_.data());
  CHECK_LAUNCH("store_differences", memory.stream());
  starts_ = {};
}

}  // namespace csrkit::gpu

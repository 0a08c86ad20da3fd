// filter_product: keeps the entries of C that a mask and a threshold select, in order.
// Owns     a warp: one row, 32 entries at a time; a lane: one entry
// Reads    C coalesced, twice: to count and to copy; the row of the mask by binary search
// Launch   256 threads: 8 rows
// Needs    columns of C and of the mask ascending in every row

#include "gpu/device/cub_scratch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/scan.h"
#include "gpu/device/warp.cuh"
#include "gpu/spgemm/filter_product.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kRows = kThreads / kWarp;

__device__ bool is_in_row(const DeviceCsrView<void>& mask, Index row, Index column) {
  Offset begin = mask.row_begin(row), end = mask.row_end(row);
  while (begin < end) {
    const Offset middle = begin + (end - begin) / 2;
    const Index found = mask.col_indices[middle];
    if (found == column) return true;
    if (found < column) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return false;
}

// If `offsets_out` is null, counts the kept entries into counts[row]; else copies them to where the
// row begins.
template <class Value>
__global__ void __launch_bounds__(kThreads)
    filter_rows(DeviceCsrView<Value> c, bool has_mask, DeviceCsrView<void> mask, double drop_below,
                Offset* counts, const Offset* offsets_out, Index* cols_out, Value* values_out) {
  const Offset row_number = Offset{blockIdx.x} * kRows + threadIdx.x / kWarp;
  if (row_number >= c.rows) return;
  const auto row = static_cast<Index>(row_number);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Offset end = c.row_end(row);
  Offset kept = 0;
  for (Offset first = c.row_begin(row); first < end; first += kWarp) {
    const Offset at = first + lane;
    bool keeps = at < end;
    if (keeps && has_mask) keeps = is_in_row(mask, row, c.col_indices[at]);
    if (keeps && drop_below > 0) keeps = !(fabs(static_cast<double>(c.values[at])) < drop_below);
    const unsigned votes = __ballot_sync(kAllLanes, keeps);
    if (keeps && offsets_out != nullptr) {
      const Offset to = offsets_out[row] + kept + __popc(votes & ((1u << lane) - 1u));
      cols_out[to] = c.col_indices[at];
      values_out[to] = c.values[at];
    }
    kept += __popc(votes);
  }
  if (lane == 0 && offsets_out == nullptr) counts[row] = kept;
}

__global__ void narrow_offsets(const Offset* from, std::uint32_t* to, Offset count) {
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (at < count) to[at] = static_cast<std::uint32_t>(from[at]);
}

template <class Value>
DeviceProduct filtered(const DeviceProduct& c, const DeviceCsrView<void>* mask, double drop_below,
                       DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  const Offset count = Offset{c.rows} + 1;
  const DeviceCsrView<void> mask_view = mask == nullptr ? DeviceCsrView<void>{} : *mask;
  const unsigned blocks = blocks_of(c.rows, kRows);
  DeviceProduct kept;
  kept.rows = c.rows;
  kept.cols = c.cols;
  kept.kind = c.kind;
  kept.wide_offsets = DeviceBuffer<Offset>(memory, count, "the row offsets of what is kept of C");
  Offset* const offsets = kept.wide_offsets.data();
  CHECK_CUDA(cudaMemsetAsync(offsets, 0, kept.wide_offsets.size_bytes(), stream));
  if (c.rows > 0) {
    filter_rows<<<blocks, kThreads, 0, stream>>>(
        c.view<Value>(), mask != nullptr, mask_view, drop_below, offsets,
        static_cast<Offset*>(nullptr), static_cast<Index*>(nullptr), static_cast<Value*>(nullptr));
    CHECK_LAUNCH("filter_rows", stream);
  }
  exclusive_sum(memory, offsets, count);
  const Offset total = fetch(offsets + c.rows, stream);
  kept.allocate_entries(memory, total);
  if (total > 0) {
    filter_rows<<<blocks, kThreads, 0, stream>>>(
        c.view<Value>(), mask != nullptr, mask_view, drop_below, static_cast<Offset*>(nullptr),
        offsets, kept.col_indices.data(),
        static_cast<Value*>(static_cast<void*>(kept.values.data())));
    CHECK_LAUNCH("filter_rows", stream);
  }
  if (DeviceProduct::fits_narrow(total)) {
    kept.narrow_offsets =
        DeviceBuffer<std::uint32_t>(memory, count, "the row offsets of what is kept of C");
    narrow_offsets<<<blocks_of(count, kThreads), kThreads, 0, stream>>>(
        offsets, kept.narrow_offsets.data(), count);
    CHECK_LAUNCH("narrow_offsets", stream);
    kept.wide_offsets = {};
  }
  return kept;
}

}  // namespace

DeviceProduct filtered_product(const DeviceProduct& c, const DeviceCsrView<void>* mask,
                               double drop_below, DeviceMemory& memory) {
  if (c.kind == ValueKind::f64) return filtered<double>(c, mask, drop_below, memory);
  return filtered<float>(c, mask, drop_below, memory);
}

std::uint64_t filter_forecast_bytes(const SpgemmProblem& problem, const SpgemmSizes& sizes) {
  if (!is_filtered(problem)) return 0;
  const std::uint64_t offsets = static_cast<std::uint64_t>(sizes.rows) + 1;
  return offsets * (sizeof(Offset) + sizeof(std::uint32_t)) +
         scan_scratch_bound(Offset{sizes.rows} + 1) +
         static_cast<std::uint64_t>(sizes.counts.output_bound) *
             (sizeof(Index) + static_cast<std::uint64_t>(size_of(problem.c)));
}

}  // namespace csrkit::gpu

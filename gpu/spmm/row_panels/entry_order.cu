#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmm/row_panels/entry_order.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256, kWarpsOfBlock = kThreads / kWarpLanes;
constexpr Offset kLongRow = 4096;  // more entries are a block's work
constexpr int kPlaces = EntryOrder::kPlaces;

/// A row is cut among kWarps warps. Each goes twice over its entries, to count and to place them.
template <int kWarps>
__device__ void order_row(const DeviceCsrView<void>& a, Index row, const EntryOrder& order,
                          const OrderedEntries& to) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int warp = kWarps > 1 ? static_cast<int>(threadIdx.x) / kWarpLanes : 0;
  const Offset begin = a.row_begin(row), length = a.row_end(row) - begin;
  const Offset first = begin + length * warp / kWarps, last = begin + length * (warp + 1) / kWarps;
  Offset before = 0;  // lane k: entries of place k that go before the next one of this warp
#pragma unroll 1
  for (Offset at = first; at < last; at += kWarpLanes) {
    const int own = at + lane < last ? order.place_of(__ldg(a.col_indices + at + lane)) : -1;
#pragma unroll
    for (int k = 0; k < kPlaces; ++k) {
      const unsigned same = __ballot_sync(kAllLanes, own == k);
      if (lane == k) before += __popc(same);
    }
  }
  Offset all = before;  // lane k: entries of place k
  if constexpr (kWarps > 1) {
    __shared__ Offset counts[kWarps][kPlaces];
    if (lane < kPlaces) counts[warp][lane] = before;
    __syncthreads();
    before = all = 0;
    for (int w = 0; w < kWarps && lane < kPlaces; ++w) {
      if (w < warp) before += counts[w][lane];
      all += counts[w][lane];
    }
    __syncthreads();  // the next row writes there
  } else {
    before = 0;
  }
  Offset up_to_mine = all;
#pragma unroll
  for (int apart = 1; apart < kPlaces; apart *= 2) {
    const Offset lower = __shfl_up_sync(kAllLanes, up_to_mine, apart);
    if (lane >= apart) up_to_mine += lower;
  }
  Offset next = begin + up_to_mine - all + before;  // lane k: where the next of place k goes
  const auto* values = static_cast<const float*>(a.values);
#pragma unroll 1
  for (Offset at = first; at < last; at += kWarpLanes) {
    int own = -1;
    Index col = 0;
    float value = 0;
    if (at + lane < last) {
      col = __ldg(a.col_indices + at + lane);
      if (values != nullptr) value = __ldg(values + at + lane);
      own = order.place_of(col);
    }
    Offset mine = 0;
#pragma unroll
    for (int k = 0; k < kPlaces; ++k) {
      const unsigned same = __ballot_sync(kAllLanes, own == k);
      const Offset next_of_k = __shfl_sync(kAllLanes, next, k);
      if (own == k) mine = next_of_k + __popc(same & ((1u << lane) - 1));
      if (lane == k) next += __popc(same);
    }
    if (own < 0) continue;
    to.cols[mine] = col;
    if (values != nullptr) to.values[mine] = value;
  }
}

/// A warp a row; then the block its long ones, together.
__global__ void __launch_bounds__(kThreads)
    order_rows(DeviceCsrView<void> a, EntryOrder order, OrderedEntries to) {
  const Offset first = Offset{blockIdx.x} * kWarpsOfBlock;
  const auto length_of = [&](Offset row) {
    if (row >= a.rows) return Offset{0};
    return a.row_end(static_cast<Index>(row)) - a.row_begin(static_cast<Index>(row));
  };
  const Offset own = first + threadIdx.x / kWarpLanes;
  const Offset length = length_of(own);
  if (length > 0 && length <= kLongRow) {
    order_row<1>(a, static_cast<Index>(own), order, to);
  }
#pragma unroll 1
  for (Offset row = first; row < first + kWarpsOfBlock; ++row) {
    if (length_of(row) > kLongRow) order_row<kWarpsOfBlock>(a, static_cast<Index>(row), order, to);
  }
}

constexpr std::uint64_t kAlign = 256;
std::uint64_t cols_bytes(Offset nnz) {
  return (static_cast<std::uint64_t>(nnz) * sizeof(Index) + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

std::uint64_t OrderedEntries::bytes(Offset nnz) {
  return cols_bytes(nnz) + static_cast<std::uint64_t>(nnz) * sizeof(float);
}

OrderedEntries OrderedEntries::at(void* memory, Offset nnz) {
  auto* bytes = static_cast<std::byte*>(memory);
  return {reinterpret_cast<Index*>(bytes), reinterpret_cast<float*>(bytes + cols_bytes(nnz))};
}

void order_entries(const DeviceCsrView<void>& a, const EntryOrder& order, const OrderedEntries& to,
                   cudaStream_t stream) {
  if (a.rows == 0) return;
  const auto blocks = static_cast<unsigned>((Offset{a.rows} + kWarpsOfBlock - 1) / kWarpsOfBlock);
  order_rows<<<blocks, kThreads, 0, stream>>>(a, order, to);
  CHECK_LAUNCH("order_rows", stream);
}

}  // namespace csrkit::gpu

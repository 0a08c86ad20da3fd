// Counts the entries of rows of C by sorting in registers, in adaptive_rows; see sort.cuh.

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/binning/short_rows.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/launch.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sort.cuh"
#include "gpu/spgemm/adaptive_rows/symbolic/count.h"

namespace csrkit::gpu {

namespace {

/// The shared memory of one row: first its sources, then its keys.
template <class S>
struct CountedRow {
  union {
    SourceList<NoValue, S> sources;
    std::uint32_t keys[S::kKeys];
  };
  std::uint32_t scratch[S::kIsBlock ? 32 : 1];
};

template <class S>
__device__ void count_row(const DeviceCsrView<float>& a, const DeviceCsrView<float>& b,
                          const RowProfile& profile, const SortItem& item, CountedRow<S>& space) {
  const std::uint32_t products =
      list_sources<S, PartKind::whole_row>(a, b, item, space.sources, space.scratch);
  std::uint32_t keys[S::kItems];
#pragma unroll
  for (int i = 0; i < S::kItems; ++i) keys[i] = ~0u;
  for_products<S>(space.sources, products, [&](int i, std::uint32_t number, std::uint32_t source) {
    const Offset position = space.sources.shifts[source] + number;
    keys[i] = static_cast<std::uint32_t>(__ldg(b.col_indices + position) - item.first_col)
              << S::kNumberBits;
  });
  sort_keys<S>(keys, space.keys);  // a block has a barrier before it writes there
  if constexpr (S::kIsBlock) {
    __syncthreads();
    show_keys<S>(keys, space.keys);
    __syncthreads();
  }
  std::uint32_t before = 0, total = 0;
  find_heads<S>(keys, products, space.keys, space.scratch, before, total);
  if (item.is_there && S::rank() == 0) profile.counts[item.row] = total;
}

template <class S>
__global__ void __launch_bounds__(S::kThreads)
    count_by_sorting(DeviceCsrView<float> a, DeviceCsrView<float> b, RowProfile profile,
                     RowList list) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  count_row<S>(a, b, profile, item_of<S>(profile, list, blockIdx.x),
               reinterpret_cast<CountedRow<S>*>(shared_bytes)[S::slot()]);
}

/// Blocks per multiprocessor. Without this limit the compiler uses registers for all shapes at
/// once.
constexpr int kBlocksOfShortRows = 16;  // per multiprocessor
__global__ void __launch_bounds__(ShortRows::kThreads, kBlocksOfShortRows)
    count_short(DeviceCsrView<float> a, DeviceCsrView<float> b, RowProfile profile,
                ShortRows rows) {
  __shared__ __align__(16) std::byte shared_bytes[kBytesOfShortRows<CountedRow>];
  for_short_rows(profile, rows, [&](auto tag, const SortItem& item) {
    count_row<typename decltype(tag)::Shape>(a, b, profile, item,
                                             tag.template space<CountedRow>(shared_bytes));
  });
}

template <class S>
void launch_count(const DeviceCsrView<float>& a, const DeviceCsrView<float>& b,
                  const RowProfile& profile, const RowList& list, cudaStream_t stream) {
  launch_rows<S::kThreads, S::kLanes>(count_by_sorting<S>, "count_by_sorting", list.count,
                                      static_cast<int>(sizeof(CountedRow<S>)), stream, a, b,
                                      profile, list);
}

}  // namespace

void count_rows_by_sorting(CountBin bin, const DeviceCsrView<float>& a,
                           const DeviceCsrView<float>& b, const RowProfile& profile,
                           const RowList& list, cudaStream_t stream) {
  switch (bin) {
    case CountBin::sort_512: return launch_count<SortShape<32, 16>>(a, b, profile, list, stream);
    case CountBin::sort_1024: return launch_count<SortShape<64, 16>>(a, b, profile, list, stream);
    case CountBin::sort_2048: return launch_count<SortShape<128, 16>>(a, b, profile, list, stream);
    case CountBin::sort_4096: return launch_count<SortShape<256, 16>>(a, b, profile, list, stream);
    default: throw std::logic_error("adaptive_rows: a bin that is not sorted");
  }
}

void count_short_rows(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                      const RowProfile& profile, const ShortRows& rows, unsigned blocks,
                      cudaStream_t stream) {
  count_short<<<blocks, ShortRows::kThreads, 0, stream>>>(a.as<float>(), b.as<float>(), profile,
                                                          rows);
  CHECK_LAUNCH("count_short", stream);
}

}  // namespace csrkit::gpu

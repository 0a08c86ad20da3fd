// Rows of C of at most 16 products, a thread each, in adaptive_rows.
// Owns     a thread: one row, whose products it sorts in registers. Rows of at most kFewProducts
//          have kernels of their own, with half the registers and a third of the comparisons
// Reads    A's row, four sources at once; then the columns and values of B of all products, at once
// Launch   128 threads. Where the products stand in B, A's values, and the entries of C go through
//          shared memory: entries of neighbouring rows are neighbours there and in C, so a warp
//          writes them together
// Needs    a column within the row and a product's number in 32 bits, as sorting by several lanes
//          does; enough rows to fill a device
// Against  a few lanes per row (sort.cuh): finding products by a list and exchanging keys by
//          shuffles takes four times the instructions, which bound rows this short. Merging by a
//          thread (merge.cu), whose loads depend on each other. Sums are in the order of A's
//          columns, as there. Source: Batcher 1968 (odd-even merge sort)

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/numeric/tiny_rows.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/launch.cuh"
#include "gpu/spgemm/adaptive_rows/symbolic/count.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 128;

/// The row of this thread.
template <int kItems>
__device__ TinyRow row_of_thread(const RowProfile& profile, const TinyRows& rows) {
  const Offset few = *rows.few;
  const bool has_few = kItems == kFewProducts;
  const Offset item = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (item >= (has_few ? few : rows.list.count - few)) return {};
  const Index row = rows.list.rows[has_few ? item : few + item];
  return {row, static_cast<int>(profile.products[row])};
}

template <int kItems>
__global__ void __launch_bounds__(kThreads)
    count_tiny(DeviceCsrView<float> a, DeviceCsrView<float> b, RowProfile profile, TinyRows rows) {
  __shared__ std::uint32_t places_of_warps[kThreads / 32][kItems * 32];
  std::uint32_t* const places = places_of_warps[threadIdx.x >> 5] + (threadIdx.x & 31);
  const TinyRow of = row_of_thread<kItems>(profile, rows);
  if (of.products == 0) return;
  find_products<false, float>(a, b, of, places, nullptr);
  std::uint32_t cols[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    cols[i] = ~0u;
    if (i < of.products)
      cols[i] = static_cast<std::uint32_t>(__ldg(b.col_indices + places[32 * i]));
  }
  sort_in_thread(cols);
  std::uint32_t entries = 1;
#pragma unroll
  for (int i = 1; i < kItems; ++i) entries += i < of.products && cols[i] != cols[i - 1];
  profile.counts[of.row] = entries;
}

template <class Value, int kItems>
__global__ void __launch_bounds__(kThreads)
    make_tiny(MakeRows<Value> op, Structure structure, TinyRows rows) {
  __shared__ TinySpace<Value, kItems> spaces[kThreads / 32];
  TinySpace<Value, kItems>& space = spaces[threadIdx.x >> 5];
  const TinyRow of = row_of_thread<kItems>(op.profile, rows);
  if (!__any_sync(kAllLanes, of.products > 0)) return;
  const TinyEntries made = make_tiny_entries<kItems>(op, op.semiring, of, space);
  space.shifts[threadIdx.x & 31] = of.products > 0 ? op.c.row_offsets[of.row] - made.before : 0;
  write_tiny_entries(op, structure, space, made.total);
}

/// One launch for rows with few products and one for the others. Only the device knows how many
/// there are of each, so blocks of either may be left without rows.
template <class Launch>
void launch_both(const TinyRows& rows, const Launch& launch) {
  const auto blocks =
      checked_cast<unsigned>((rows.list.count + kThreads - 1) / kThreads, "rows with few products");
  launch(std::integral_constant<int, int{kMostOfTiny}>{}, blocks);
  launch(std::integral_constant<int, kFewProducts>{}, blocks);
}

}  // namespace

void count_tiny_rows(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                     const RowProfile& profile, const TinyRows& rows, cudaStream_t stream) {
  launch_both(rows, [&](auto most, unsigned blocks) {
    count_tiny<most><<<blocks, kThreads, 0, stream>>>(a.as<float>(), b.as<float>(), profile, rows);
    CHECK_LAUNCH("count_tiny", stream);
  });
}

template <class Value>
void make_tiny_rows(Structure structure, const MakeRows<Value>& op, const TinyRows& rows,
                    cudaStream_t stream) {
  launch_both(rows, [&](auto most, unsigned blocks) {
    make_tiny<Value, most><<<blocks, kThreads, 0, stream>>>(op, structure, rows);
    CHECK_LAUNCH("make_tiny", stream);
  });
}

template void make_tiny_rows(Structure, const MakeRows<float>&, const TinyRows&, cudaStream_t);
template void make_tiny_rows(Structure, const MakeRows<double>&, const TinyRows&, cudaStream_t);

}  // namespace csrkit::gpu

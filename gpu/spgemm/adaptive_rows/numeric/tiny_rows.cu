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
#include "gpu/spgemm/adaptive_rows/numeric/make.h"
#include "gpu/spgemm/adaptive_rows/primitives/lane_networks.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/launch.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"
#include "gpu/spgemm/adaptive_rows/symbolic/count.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 128;
constexpr int kMostProducts = 16;
constexpr int kSourcesAtOnce = 4;

/// A row of A, and how many products it has.
struct TinyRow {
  Index row = 0;
  int products = 0;  // 0: there is no row for this thread
};

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

/// Finds where the row's products stand in B and, if kHasValues, A's value of each: product i at
/// [32 * i].
template <bool kHasValues, class Value>
__device__ void find_products(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                              const TinyRow& of, std::uint32_t* places, Value* values) {
  const std::uint32_t* const b_offsets = b.row_offsets.narrow;
  const auto b_base = static_cast<std::uint32_t>(b.base);
  int number = 0;
  for (Offset at = of.products > 0 ? a.row_begin(of.row) : 0; number < of.products;
       at += kSourcesAtOnce) {
    const Offset left = a.row_end(of.row) - at;
    std::uint32_t first[kSourcesAtOnce], last[kSourcesAtOnce];
    [[maybe_unused]] Value x[kSourcesAtOnce];
#pragma unroll
    for (int u = 0; u < kSourcesAtOnce; ++u) {
      first[u] = last[u] = 0;
      if (u < left) {
        const Index source = __ldg(a.col_indices + at + u);
        first[u] = __ldg(b_offsets + source) - b_base;
        last[u] = __ldg(b_offsets + source + 1) - b_base;
        if constexpr (kHasValues) x[u] = value_of(a, at + u);
      }
    }
#pragma unroll
    for (int u = 0; u < kSourcesAtOnce; ++u) {
#pragma unroll 1
      for (; first[u] < last[u]; ++first[u], ++number) {
        places[32 * number] = first[u];
        if constexpr (kHasValues) values[32 * number] = x[u];
      }
    }
  }
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

/// The shared memory of a warp: its rows' products, by number, then by lane; later the entries of
/// its rows of C, row after row.
template <class Value, int kItems>
struct WarpSpace {
  Value values[kItems * 32];
  union {
    std::uint32_t places[kItems * 32];  // of products, in B
    Index cols[kItems * 32];            // of entries
  };
  std::uint8_t lanes[kItems * 32];  // of each entry: the lane that made it
  Offset shifts[32];                // of each lane: from its entries' places here to those in C
};

template <class Value, int kItems>
__global__ void __launch_bounds__(kThreads)
    make_tiny(MakeRows<Value> op, Structure structure, TinyRows rows) {
  constexpr int kLog2 = log2_of(kItems);
  __shared__ WarpSpace<Value, kItems> spaces[kThreads / 32];
  WarpSpace<Value, kItems>& space = spaces[threadIdx.x >> 5];
  const int lane = static_cast<int>(threadIdx.x & 31);
  const TinyRow of = row_of_thread<kItems>(op.profile, rows);
  if (!__any_sync(kAllLanes, of.products > 0)) return;
  find_products<true>(op.a, op.b, of, space.places + lane, space.values + lane);
  std::uint32_t keys[kItems];
  Value terms[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    keys[i] = ~0u;
    terms[i] = Value{};
    if (i < of.products) {
      const std::uint32_t place = space.places[32 * i + lane];
      keys[i] = static_cast<std::uint32_t>(__ldg(op.b.col_indices + place));
      terms[i] = value_of(op.b, place);
    }
  }
  const auto first_col = static_cast<std::uint32_t>(op.profile.first_word[of.row] << kWordLog2);
  const Value nothing = empty_sum<Value>(op.semiring);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (i < of.products) {
      keys[i] = (keys[i] - first_col) << kLog2 | static_cast<std::uint32_t>(i);
      Value& value = space.values[32 * i + lane];
      value = add_product(op.semiring, nothing, value, terms[i]);
    }
  }
  sort_in_thread(keys);

  unsigned lasts = 0;  // a bit for every product that is the last of its column
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (i < of.products) {
      terms[i] = space.values[32 * (keys[i] & (kItems - 1)) + lane];
      if (i > 0 && keys[i] >> kLog2 == keys[i - 1] >> kLog2) {
        terms[i] = add_sums(op.semiring, terms[i - 1], terms[i]);
        lasts &= ~(1u << (i - 1));
      }
      lasts |= 1u << i;
    }
  }
  std::uint32_t entries = 0;
  std::uint32_t place = Group<32>::exclusive_sum<std::uint32_t>(
      static_cast<std::uint32_t>(__popc(lasts)), entries, nullptr);
  space.shifts[lane] = of.products > 0 ? op.c.row_offsets[of.row] - place : 0;
  __syncwarp();  // all lanes are done with the products
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if ((lasts >> i & 1) != 0) {
      space.values[place] = op.alpha * terms[i];
      space.cols[place] = static_cast<Index>((keys[i] >> kLog2) + first_col);
      space.lanes[place] = static_cast<std::uint8_t>(lane);
      ++place;
    }
  }
  __syncwarp();
  for (auto entry = static_cast<std::uint32_t>(lane); entry < entries; entry += 32) {
    const Offset at = space.shifts[space.lanes[entry]] + entry;
    if (structure == Structure::wanted) op.c.col_indices[at] = space.cols[entry];
    op.c.values[at] = space.values[entry];
  }
}

/// One launch for rows with few products and one for the others. Only the device knows how many
/// there are of each, so blocks of either may be left without rows.
template <class Launch>
void launch_both(const TinyRows& rows, const Launch& launch) {
  const auto blocks =
      checked_cast<unsigned>((rows.list.count + kThreads - 1) / kThreads, "rows with few products");
  launch(std::integral_constant<int, kMostProducts>{}, blocks);
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

// Hub rows in adaptive_rows: expand, sort and add up, each by the whole device.
// Owns     a thread: an entry of A, then four products, then an entry of C with up to 32 products.
//          A warp: an entry of C with up to 2,048; a block: one with more
// Reads    A's columns and two row ends of B per entry; per product A's entry, mostly from L1, and
//          B's column and value once, neighbours by neighbours; then 8 + V bytes a product, in and
//          out, per 8 bits of rows and columns
// Launch   256 threads, one block of 1,024 for the list of entries; CUB's scan, radix sort and
//          selection
// Needs    memory for all products twice. If that is too much, only longer rows are hubs, or none
// Against  kernels that make a row in a block: a hub would occupy one multiprocessor long after all
//          others are done. The twelve launches take longer than a single row of a thousand sources

#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <stdexcept>
#include <string>

#include "gpu/device/arithmetic.cuh"
#include "gpu/device/cuda_check.h"
#include "gpu/device/workspace_layout.h"
#include "gpu/spgemm/adaptive_rows/numeric/hub_rows.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kListThreads = 1024;
constexpr int kProducts = 4;              // of a thread
constexpr std::uint32_t kOfAThread = 32;  // products of an entry of C; a warp adds up more
constexpr std::uint32_t kOfAWarp = 2048;  // and a block more than this
constexpr int kSumsAtOnce = 4;

unsigned blocks_for(Offset items, int per_block) {
  return checked_cast<unsigned>((items + per_block - 1) / per_block, "the products of hubs");
}

/// The last place in [first, last) of ascending `numbers` whose number is at most `number`. The
/// first one's is.
__device__ std::uint32_t last_up_to(const std::uint32_t* numbers, std::uint32_t first,
                                    std::uint32_t last, std::uint32_t number) {
  while (first + 1 < last) {
    const std::uint32_t middle = (first + last) >> 1;
    if (numbers[middle] <= number) {
      first = middle;
    } else {
      last = middle;
    }
  }
  return first;
}

/// The same by a whole block of kThreads, for one `number`: all threads search together and get the
/// result.
__device__ std::uint32_t last_up_to_by_block(const std::uint32_t* numbers, std::uint32_t last,
                                             std::uint32_t number) {
  std::uint32_t first = 0;
  while (first + 1 < last) {
    const std::uint32_t step = (last - first + kThreads - 1) / kThreads;
    const std::uint32_t mine = first + threadIdx.x * step;
    const int reached = __syncthreads_count(mine < last && numbers[mine] <= number);
    first += static_cast<std::uint32_t>(reached - 1) * step;
    last = min(last, first + step);
  }
  return first;
}

/// One block.
__global__ void __launch_bounds__(kListThreads)
    list_entries(DeviceCsrView<void> a, RowList list, std::uint32_t* first_entries) {
  __shared__ std::uint32_t scratch[32];
  std::uint32_t before = 0;
  for (Offset begin = 0; begin < list.count; begin += kListThreads) {
    const Offset at = begin + threadIdx.x;
    const Index row = at < list.count ? list.rows[at] : -1;
    const auto length =
        row < 0 ? 0u : static_cast<std::uint32_t>(a.row_end(row) - a.row_begin(row));
    std::uint32_t total = 0;
    const std::uint32_t first =
        before + Group<kListThreads>::exclusive_sum<std::uint32_t>(length, total, scratch);
    if (row >= 0) first_entries[at] = first;
    before += total;
  }
  if (threadIdx.x == 0) first_entries[list.count] = before;
}

/// The arrays of HubRows, as plain data for kernels.
struct Hubs {
  RowList list;
  std::uint32_t entries, products;
  int col_bits;
  std::uint32_t *first_entries, *rows;
  Offset* places;
  std::uint32_t* first_products;
  std::uint64_t *keys, *sorted_keys;
  std::uint32_t *starts, *count, *first_results;

  explicit Hubs(const HubRows& of)
      : list(of.list),
        entries(static_cast<std::uint32_t>(of.entries)),
        products(static_cast<std::uint32_t>(of.products)),
        col_bits(of.col_bits),
        first_entries(of.first_entries),
        rows(of.rows),
        places(of.places),
        first_products(of.first_products),
        keys(of.keys[0]),
        sorted_keys(of.keys[of.sorted]),
        starts(of.starts),
        count(of.count),
        first_results(of.first_results) {}
};

/// Finds each entry's row and place in A, and counts its products.
__global__ void __launch_bounds__(kThreads)
    measure_entries(DeviceCsrView<void> a, DeviceCsrView<void> b, Hubs hubs) {
  const std::uint32_t entry = blockIdx.x * kThreads + threadIdx.x;
  if (entry >= hubs.entries) return;
  const std::uint32_t row =
      last_up_to(hubs.first_entries, 0, static_cast<std::uint32_t>(hubs.list.count), entry);
  const Offset place = a.row_begin(hubs.list.rows[row]) + entry - hubs.first_entries[row];
  const Index source = __ldg(a.col_indices + place);
  hubs.rows[entry] = row;
  hubs.places[entry] = place;
  hubs.first_products[entry] = static_cast<std::uint32_t>(b.row_end(source) - b.row_begin(source));
}

template <class Value>
__global__ void __launch_bounds__(kThreads) expand(DeviceCsrView<Value> a, DeviceCsrView<Value> b,
                                                   Semiring semiring, Hubs hubs, Value* terms) {
  constexpr std::uint32_t kStaged = 2 * kThreads * kProducts;
  __shared__ std::uint32_t staged[kStaged];
  const std::uint32_t begin = blockIdx.x * (kThreads * kProducts);
  const std::uint32_t end = min(begin + kThreads * kProducts, hubs.products);
  const std::uint32_t first = last_up_to_by_block(hubs.first_products, hubs.entries, begin);
  const std::uint32_t count =
      last_up_to_by_block(hubs.first_products, hubs.entries, end - 1) + 1 - first;
  const bool is_staged = count <= kStaged;  // else most entries have no products
  for (std::uint32_t i = threadIdx.x; is_staged && i < count; i += kThreads) {
    staged[i] = hubs.first_products[first + i];
  }
  __syncthreads();
  const std::uint32_t* const starts = is_staged ? staged : hubs.first_products + first;
  const Value nothing = empty_sum<Value>(semiring);
  std::uint32_t entries[kProducts];
  Offset places[kProducts], from[kProducts];
#pragma unroll
  for (int u = 0; u < kProducts; ++u) {
    const std::uint32_t product =
        min(begin + static_cast<std::uint32_t>(u) * kThreads + threadIdx.x, end - 1);
    entries[u] = last_up_to(starts, 0, count, product);
    from[u] = Offset{product} - starts[entries[u]];
  }
#pragma unroll
  for (int u = 0; u < kProducts; ++u) places[u] = hubs.places[first + entries[u]];
#pragma unroll
  for (int u = 0; u < kProducts; ++u) from[u] += b.row_begin(__ldg(a.col_indices + places[u]));
#pragma unroll
  for (int u = 0; u < kProducts; ++u) {
    const std::uint32_t product = begin + static_cast<std::uint32_t>(u) * kThreads + threadIdx.x;
    if (product >= end) continue;
    hubs.keys[product] = static_cast<std::uint64_t>(hubs.rows[first + entries[u]])
                             << hubs.col_bits |
                         static_cast<std::uint64_t>(__ldg(b.col_indices + from[u]));
    terms[product] = add_product(semiring, nothing, value_of(a, places[u]), value_of(b, from[u]));
  }
}

/// Whether a sorted product is the first of its entry of C.
struct IsFirst {
  const std::uint64_t* keys;
  __device__ bool operator()(std::uint32_t product) const {
    return product == 0 || keys[product] != keys[product - 1];
  }
};

/// Writes the number of entries of C of every hub row; each has at least one.
__global__ void __launch_bounds__(kThreads) count_results(Hubs hubs, RowProfile profile) {
  const std::uint32_t count = *hubs.count;
  const std::uint32_t entry = blockIdx.x * kThreads + threadIdx.x;
  if (entry >= count) return;
  const auto row_of = [&](std::uint32_t number) {
    return static_cast<std::uint32_t>(hubs.sorted_keys[hubs.starts[number]] >> hubs.col_bits);
  };
  const std::uint32_t row = row_of(entry);
  std::uint32_t* const result = profile.counts + hubs.list.rows[row];  // zero so far
  if (entry == 0 || row_of(entry - 1) != row) {
    hubs.first_results[row] = entry;
    atomicSub(result, entry);
  }
  if (entry + 1 == count || row_of(entry + 1) != row) atomicAdd(result, entry + 1);
}

/// The sum of every `stride`th product of [begin, end), in kSumsAtOnce partial sums, so that as
/// many loads are in flight.
template <class Value>
__device__ Value sum_strided(Semiring semiring, const Value* terms, std::uint32_t begin,
                             std::uint32_t end, std::uint32_t stride) {
  Value sums[kSumsAtOnce];
#pragma unroll
  for (int u = 0; u < kSumsAtOnce; ++u) sums[u] = empty_sum<Value>(semiring);
  for (std::uint32_t at = begin; at < end; at += stride * kSumsAtOnce) {
#pragma unroll
    for (int u = 0; u < kSumsAtOnce; ++u) {
      const std::uint32_t mine = at + static_cast<std::uint32_t>(u) * stride;
      if (mine < end) sums[u] = add_sums(semiring, sums[u], terms[mine]);
    }
  }
  return add_sums(semiring, add_sums(semiring, sums[0], sums[1]),
                  add_sums(semiring, sums[2], sums[3]));
}

template <class Value>
__device__ Value sum_of_lanes(Semiring semiring, Value sum) {
  for (int distance = 16; distance > 0; distance /= 2) {
    sum = add_sums(semiring, sum, __shfl_down_sync(kAllLanes, sum, distance));
  }
  return sum;
}

template <class Value>
__global__ void __launch_bounds__(kThreads)
    add_up(Structure structure, MakeRows<Value> op, Hubs hubs, const Value* terms) {
  constexpr int kWarps = kThreads / 32;
  __shared__ std::uint32_t longest[kThreads];
  __shared__ int longest_count;
  __shared__ Value of_warps[kWarps];
  const std::uint32_t count = *hubs.count;
  const std::uint32_t first = blockIdx.x * kThreads;
  if (first >= count) return;
  if (threadIdx.x == 0) longest_count = 0;
  __syncthreads();
  const std::uint32_t entry = first + threadIdx.x;
  std::uint32_t begin = 0, end = 0;
  if (entry < count) {
    begin = hubs.starts[entry];
    end = entry + 1 < count ? hubs.starts[entry + 1] : hubs.products;
  }
  const unsigned lane = threadIdx.x & 31;
  Value sum = empty_sum<Value>(op.semiring);
  if (end - begin <= kOfAThread) {
    if (begin < end) sum = terms[begin];
    for (std::uint32_t at = begin + 1; at < end; ++at) {
      sum = add_sums(op.semiring, sum, terms[at]);
    }
  } else if (end - begin > kOfAWarp) {
    longest[atomicAdd(&longest_count, 1)] = threadIdx.x;
  }
  __syncwarp();
  unsigned longer = __ballot_sync(kAllLanes, end - begin > kOfAThread && end - begin <= kOfAWarp);
  for (; longer != 0; longer &= longer - 1) {
    const int from = __ffs(static_cast<int>(longer)) - 1;
    const std::uint32_t its_begin = __shfl_sync(kAllLanes, begin, from);
    const std::uint32_t its_end = __shfl_sync(kAllLanes, end, from);
    const Value its_sum =
        sum_of_lanes(op.semiring, sum_strided(op.semiring, terms, its_begin + lane, its_end, 32));
    const Value all = __shfl_sync(kAllLanes, its_sum, 0);
    if (static_cast<int>(lane) == from) sum = all;
  }
  __syncthreads();
  for (int i = 0; i < longest_count; ++i) {
    const std::uint32_t its_entry = first + longest[i];
    const std::uint32_t its_begin = hubs.starts[its_entry];
    const std::uint32_t its_end =
        its_entry + 1 < count ? hubs.starts[its_entry + 1] : hubs.products;
    const Value of_warp = sum_of_lanes(
        op.semiring, sum_strided(op.semiring, terms, its_begin + threadIdx.x, its_end, kThreads));
    if (lane == 0) of_warps[threadIdx.x / 32] = of_warp;
    __syncthreads();
    if (threadIdx.x == longest[i]) {
      sum = of_warps[0];
      for (int warp = 1; warp < kWarps; ++warp) sum = add_sums(op.semiring, sum, of_warps[warp]);
    }
    __syncthreads();
  }
  if (entry >= count) return;
  const std::uint64_t key = hubs.sorted_keys[begin];
  const auto row = static_cast<std::uint32_t>(key >> hubs.col_bits);
  const Offset to = op.c.row_offsets[hubs.list.rows[row]] + entry - hubs.first_results[row];
  if (structure == Structure::wanted) {
    op.c.col_indices[to] = static_cast<Index>(key & ((std::uint64_t{1} << hubs.col_bits) - 1));
  }
  op.c.values[to] = op.alpha * sum;
}

/// An upper bound of the scratch that CUB asks for: its exact demand needs a device.
std::uint64_t scratch_bytes(Offset products) {
  return (std::uint64_t{2} << 20) + static_cast<std::uint64_t>(products);
}

/// Calls an algorithm of CUB twice: for the bytes it needs, then with the scratch.
template <class Algorithm>
void run(const HubRows& hubs, const Algorithm& algorithm) {
  std::size_t bytes = 0;
  CHECK_CUDA(algorithm(static_cast<void*>(nullptr), bytes));
  if (bytes > scratch_bytes(hubs.products)) {
    throw std::logic_error("hub_rows: CUB wants " + std::to_string(bytes) + " bytes for " +
                           std::to_string(hubs.products) + " products");
  }
  CHECK_CUDA(algorithm(static_cast<void*>(hubs.scratch), bytes));
}

template <class Value>
void sort_products(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Semiring semiring,
                   HubRows& hubs, cudaStream_t stream) {
  auto* const terms = reinterpret_cast<Value*>(hubs.terms[0]);
  expand<<<blocks_for(hubs.products, kThreads * kProducts), kThreads, 0, stream>>>(
      a, b, semiring, Hubs(hubs), terms);
  CHECK_LAUNCH("expand", stream);
  cub::DoubleBuffer<std::uint64_t> keys(hubs.keys[0], hubs.keys[1]);
  cub::DoubleBuffer<Value> values(terms, reinterpret_cast<Value*>(hubs.terms[1]));
  run(hubs, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values,
                                           static_cast<int>(hubs.products), 0,
                                           hubs.col_bits + hubs.row_bits, stream);
  });
  hubs.sorted = keys.Current() == hubs.keys[0] ? 0 : 1;
}

}  // namespace

std::uint64_t HubRows::bytes_for(Offset rows, Offset entries, Offset products, int value_bytes) {
  const auto of = [](Offset count, std::uint64_t size) {
    return WorkspaceLayout::aligned(static_cast<std::uint64_t>(count) * size);
  };
  const auto value = static_cast<std::uint64_t>(value_bytes);
  return 2 * of(rows + 1, 4) + 2 * of(entries, 4) + of(entries, sizeof(Offset)) +
         2 * of(products, 8) + 2 * of(products, value) + of(products, 4) + of(1, 4) +
         of(1, scratch_bytes(products));
}

HubRows::HubRows(DeviceMemory& memory, const RowList& of_rows, Offset of_entries,
                 Offset of_products, Index cols, int value_bytes)
    : list(of_rows),
      entries(of_entries),
      products(of_products),
      col_bits(std::max(1, log2_ceiling(cols))),
      row_bits(log2_ceiling(list.count)),
      bytes(memory, static_cast<Offset>(bytes_for(list.count, entries, products, value_bytes)),
            "the products of hubs") {
  WorkspaceLayout layout;
  const auto take = [&](auto*& array, Offset count, std::uint64_t size) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(
        bytes.data() + layout.reserve_bytes(static_cast<std::uint64_t>(count) * size));
  };
  const auto value = static_cast<std::uint64_t>(value_bytes);
  take(first_entries, list.count + 1, 4);
  take(first_results, list.count + 1, 4);
  take(rows, entries, 4);
  take(first_products, entries, 4);
  take(places, entries, sizeof(Offset));
  for (std::uint64_t*& array : keys) take(array, products, 8);
  for (std::byte*& array : terms) take(array, products, value);
  take(starts, products, 4);
  take(count, 1, 4);
  take(scratch, 1, scratch_bytes(products));
}

template <class Value>
void count_hub_rows(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Semiring semiring,
                    const RowProfile& profile, HubRows& hubs, cudaStream_t stream) {
  const auto any_a = a.template as<void>(), any_b = b.template as<void>();
  list_entries<<<1, kListThreads, 0, stream>>>(any_a, hubs.list, hubs.first_entries);
  CHECK_LAUNCH("list_entries", stream);
  measure_entries<<<blocks_for(hubs.entries, kThreads), kThreads, 0, stream>>>(any_a, any_b,
                                                                               Hubs(hubs));
  CHECK_LAUNCH("measure_entries", stream);
  run(hubs, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, hubs.first_products, hubs.first_products,
                                         static_cast<int>(hubs.entries), stream);
  });
  sort_products(a, b, semiring, hubs, stream);
  run(hubs, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<std::uint32_t>(0),
                                 hubs.starts, hubs.count, static_cast<int>(hubs.products),
                                 IsFirst{hubs.keys[hubs.sorted]}, stream);
  });
  count_results<<<blocks_for(hubs.products, kThreads), kThreads, 0, stream>>>(Hubs(hubs), profile);
  CHECK_LAUNCH("count_results", stream);
}

template <class Value>
void renew_hub_rows(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Semiring semiring,
                    HubRows& hubs, cudaStream_t stream) {
  sort_products(a, b, semiring, hubs, stream);
}

template <class Value>
void make_hub_rows(Structure structure, const MakeRows<Value>& op, const HubRows& hubs,
                   cudaStream_t stream) {
  add_up<<<blocks_for(hubs.products, kThreads), kThreads, 0, stream>>>(
      structure, op, Hubs(hubs), reinterpret_cast<const Value*>(hubs.terms[hubs.sorted]));
  CHECK_LAUNCH("add_up", stream);
}

template void count_hub_rows(const DeviceCsrView<float>&, const DeviceCsrView<float>&, Semiring,
                             const RowProfile&, HubRows&, cudaStream_t);
template void count_hub_rows(const DeviceCsrView<double>&, const DeviceCsrView<double>&, Semiring,
                             const RowProfile&, HubRows&, cudaStream_t);
template void renew_hub_rows(const DeviceCsrView<float>&, const DeviceCsrView<float>&, Semiring,
                             HubRows&, cudaStream_t);
template void renew_hub_rows(const DeviceCsrView<double>&, const DeviceCsrView<double>&, Semiring,
                             HubRows&, cudaStream_t);
template void make_hub_rows(Structure, const MakeRows<float>&, const HubRows&, cudaStream_t);
template void make_hub_rows(Structure, const MakeRows<double>&, const HubRows&, cudaStream_t);

}  // namespace csrkit::gpu

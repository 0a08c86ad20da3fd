// Searches every product of A and B in its row of C, to count it there or to write it to its place.
#pragma once

#include <cstdint>

#include "gpu/device/device_csr.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"
#include "gpu/spgemm/product_list/product_list.h"
#include "gpu/spgemm/product_list/totals.h"

namespace csrkit::gpu::product_list {

constexpr int kThreads = 256;
constexpr int kLanes = 8;
constexpr int kSources = kThreads / kLanes;
constexpr Offset kMostOfLanes = 256;  // entries of a row of B; a block takes longer rows

/// The row that the entry at `position` is in.
__device__ Index row_of(const DeviceCsrView<void>& matrix, Offset position) {
  Index first = 0, last = matrix.rows - 1;
  while (first < last) {
    const Index middle = first + (last - first + 1) / 2;
    if (matrix.row_begin(middle) <= position) {
      first = middle;
    } else {
      last = middle - 1;
    }
  }
  return first;
}

/// Zero at first. After counting: the products of every entry. While filling: those not yet
/// written.
struct EntryCounts {
  std::uint32_t* products;
  const std::uint32_t* starts;  // a long entry has room for one product here
  ListWord* words;
};

template <bool kFills>
__device__ void place_products(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                               const DeviceCsrView<void>& c, const EntryCounts& counts, Offset of_a,
                               int rank, int lanes) {
  const Index row = row_of(a, of_a);
  const Offset begin = c.row_begin(row), end = c.row_end(row);
  const Index source = __ldg(a.col_indices + of_a);
  const Offset last = b.row_end(source);
  for (Offset of_b = b.row_begin(source) + rank; of_b < last; of_b += lanes) {
    const Offset entry = lower_bound(c.col_indices, begin, end, __ldg(b.col_indices + of_b));
    if constexpr (kFills) {
      const std::uint32_t place = atomicSub(counts.products + entry, 1u) - 1;
      if (place >= static_cast<std::uint32_t>(kMostOfAnEntry)) continue;  // there is no room
      counts.words[counts.starts[entry] + place] = {static_cast<std::uint32_t>(of_b),
                                                    static_cast<std::uint32_t>(of_a)};
    } else {
      atomicAdd(counts.products + entry, 1u);
    }
  }
}

template <bool kFills>
__global__ void __launch_bounds__(kThreads)
    place_all_products(DeviceCsrView<void> a, DeviceCsrView<void> b, DeviceCsrView<void> c,
                       EntryCounts counts) {
  __shared__ int long_rows[kSources];
  __shared__ int long_count;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) long_count = 0;
  __syncthreads();
  const Offset first = Offset{blockIdx.x} * kSources;
  const int slot = thread / kLanes;
  if (first + slot < a.nnz) {
    const Index source = __ldg(a.col_indices + first + slot);
    if (b.row_end(source) - b.row_begin(source) > kMostOfLanes) {
      if (thread % kLanes == 0) long_rows[atomicAdd(&long_count, 1)] = slot;
    } else {
      place_products<kFills>(a, b, c, counts, first + slot, thread % kLanes, kLanes);
    }
  }
  __syncthreads();
  for (int i = 0; i < long_count; ++i) {
    place_products<kFills>(a, b, c, counts, first + long_rows[i], thread, kThreads);
  }
}

/// Lists the long entries and removes their products from the pieces, except one each, so that a
/// piece never has more entries than products.
__global__ void __launch_bounds__(kThreads)
    find_long_entries(std::uint32_t* counts, Offset entries, LongEntry* found, ListTotals* totals) {
  const Offset entry = Offset{blockIdx.x} * kThreads + threadIdx.x;
  const std::uint32_t products = entry < entries ? counts[entry] : 0;
  const bool is_long = products > static_cast<std::uint32_t>(kMostOfAnEntry);
  const std::uint32_t longest = __reduce_max_sync(kAllLanes, is_long ? 1 : products);
  if ((threadIdx.x & 31) == 0 && longest > totals->longest) atomicMax(&totals->longest, longest);
  if (!is_long) return;
  counts[entry] = 1;
  const auto first = atomicAdd(&totals->long_products, static_cast<unsigned long long>(products));
  found[atomicAdd(&totals->long_entries, 1u)] = {static_cast<std::uint32_t>(entry),
                                                 static_cast<std::uint32_t>(first), products};
}

/// A block per long entry: finds the entries of A's row whose row of B has that column, in their
/// order.
__global__ void __launch_bounds__(kThreads)
    fill_long_entries(DeviceCsrView<void> a, DeviceCsrView<void> b, DeviceCsrView<void> c,
                      const LongEntry* entries, ListWord* words) {
  __shared__ std::uint32_t scratch[32];
  const LongEntry item = entries[blockIdx.x];
  const Index row = row_of(c, item.entry);
  const Index column = c.col_indices[item.entry];
  words += item.first_product;
  std::uint32_t before = 0;
  const Offset end = a.row_end(row);
  for (Offset first = a.row_begin(row); first < end; first += kThreads) {
    const Offset of_a = first + threadIdx.x;
    Offset of_b = 0;
    bool is_there = false;
    if (of_a < end) {
      const Index source = __ldg(a.col_indices + of_a);
      const Offset last = b.row_end(source);
      of_b = lower_bound(b.col_indices, b.row_begin(source), last, column);
      is_there = of_b < last && __ldg(b.col_indices + of_b) == column;
    }
    std::uint32_t total = 0;
    const std::uint32_t place =
        Group<kThreads>::exclusive_sum<std::uint32_t>(is_there ? 1u : 0u, total, scratch);
    if (is_there) {
      words[before + place] = {static_cast<std::uint32_t>(of_b), static_cast<std::uint32_t>(of_a)};
    }
    before += total;
  }
}

}  // namespace csrkit::gpu::product_list

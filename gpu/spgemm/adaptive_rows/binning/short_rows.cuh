// How the blocks of a launch over short rows find their rows.
#pragma once

#include <algorithm>

#include "gpu/spgemm/adaptive_rows/binning/short_rows.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_sort.cuh"

namespace csrkit::gpu {

using ShortShape256 = SortShape<32, 8>;
using ShortShape128 = SortShape<16, 8>;
using ShortShape64 = SortShape<8, 8>;
using ShortShape32 = SortShape<4, 8>;
using ShortShape16 = SortShape<4, 4>;

/// Bytes of shared memory of a block, where a row of shape S takes a Space<S>.
template <template <class> class Space>
inline constexpr std::size_t kBytesOfShortRows = std::max({sizeof(Space<ShortShape256>) * 4,
                                                           sizeof(Space<ShortShape128>) * 8,
                                                           sizeof(Space<ShortShape64>) * 16,
                                                           sizeof(Space<ShortShape32>) * 32,
                                                           sizeof(Space<ShortShape16>) * 32});

/// The most products of an item of this lane's warp, which has items of shape S.
template <class S>
__device__ std::uint32_t most_products(const RowProfile& profile, const SortItem& item) {
  const std::uint32_t products =
      item.is_there ? static_cast<std::uint32_t>(profile.products[item.row]) : 0;
  return S::kLanes < 32 ? __reduce_max_sync(kAllLanes, products) : products;
}

template <class S>
__device__ SortItem item_of(const RowProfile& profile, const RowList& list, Offset block) {
  const Offset item = block * (S::kThreads / S::kLanes) + S::slot();
  const bool has_row = item < list.count;
  const Index row = has_row ? list.rows[item] : 0;
  return {has_row, row, has_row ? profile.first_word[row] << kWordLog2 : 0, 0};
}

/// By the first warp of a block.
__device__ inline void find_short_lists(const ShortRows& rows, ShortLists& found) {
  const auto bin = static_cast<int>(threadIdx.x & 31);
  const std::uint32_t count = bin == 0 ? 0 : rows.totals->rows[bin];
  std::uint32_t sum = count;
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(kAllLanes, sum, distance);
    if (bin >= distance) sum += other;
  }
  const Offset merged = Offset{__shfl_sync(kAllLanes, count, rows.merge_4)} +
                        Offset{__shfl_sync(kAllLanes, count, rows.merge_4 + 1)};
  const bool with_merged = rows.may_take_merged && ShortRows::takes_merged(merged, rows.rows);
  std::uint32_t blocks = 0;
#pragma unroll
  for (int i = 0; i < ShortLists::kCount; ++i) {
    const int of_list = bin_of_short_list(i);
    const auto rows_of_a_block = static_cast<std::uint32_t>(rows_of_short_block(i));
    const std::uint32_t in_bin = __shfl_sync(kAllLanes, count, rows.merge_4 + of_list);
    const std::uint32_t end = __shfl_sync(kAllLanes, sum, rows.merge_4 + of_list);
    const std::uint32_t taken = of_list >= 2 || with_merged ? in_bin : 0;
    if (bin == 0) {
      found.rows[i] = rows.list + (end - in_bin);
      found.counts[i] = Offset{taken};
      found.first_blocks[i] = blocks;
    }
    blocks += (taken + rows_of_a_block - 1) / rows_of_a_block;
  }
  if (bin == 0) found.first_blocks[ShortLists::kCount] = blocks;
}

/// Calls work(tag, item) with the shape of the block's rows and this lane's row; loops where there
/// are more rows than blocks.
template <class Work>
__device__ void for_short_rows(const RowProfile& profile, const ShortRows& rows, const Work& work) {
  __shared__ ShortLists found;
  const bool is_known = rows.totals == nullptr;
  std::uint32_t blocks = gridDim.x;
  if (!is_known) {
    if (threadIdx.x < 32) find_short_lists(rows, found);
    __syncthreads();
    blocks = found.first_blocks[ShortLists::kCount];
  }
  for (std::uint32_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    int list = 0;
    while (block >= (is_known ? rows.lists.first_blocks[list + 1] : found.first_blocks[list + 1])) {
      ++list;
    }
    const RowList of_list = is_known ? RowList{rows.lists.rows[list], rows.lists.counts[list]}
                                     : RowList{found.rows[list], found.counts[list]};
    const Offset of_block =
        block - (is_known ? rows.lists.first_blocks[list] : found.first_blocks[list]);
    const auto run = [&](auto tag) {
      using S = typename decltype(tag)::Shape;
      const SortItem item = item_of<S>(profile, of_list, of_block);
      with_fewest_items<S>(most_products<S>(profile, item),
                           [&](auto of_items) { work(of_items, item); });
    };
    switch (list) {
      case 0: run(OwnShape<ShortShape256>{}); break;
      case 1: run(OwnShape<ShortShape128>{}); break;
      case 2:
      case 3:
      case 4: run(OwnShape<ShortShape64>{}); break;
      case 5: run(OwnShape<ShortShape32>{}); break;
      default: run(OwnShape<ShortShape16>{}); break;
    }
    // the next rows may have another shape and share the memory differently
    if (block + gridDim.x < blocks) __syncthreads();
  }
}

}  // namespace csrkit::gpu

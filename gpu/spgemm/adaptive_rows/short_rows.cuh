// Which rows a block of a launch over short rows makes.
#pragma once

#include <algorithm>

#include "gpu/spgemm/adaptive_rows/row_sort.cuh"
#include "gpu/spgemm/adaptive_rows/short_rows.h"

namespace csrkit::gpu {

using ShortShape256 = SortShape<32, 8>;
using ShortShape128 = SortShape<16, 8>;
using ShortShape64 = SortShape<8, 8>;
using ShortShape32 = SortShape<4, 8>;
using ShortShape16 = SortShape<4, 4>;

/// Bytes of shared memory of a block, where a row of a shape S takes those of Space<S>.
template <template <class> class Space>
inline constexpr std::size_t kBytesOfShortRows = std::max({sizeof(Space<ShortShape256>) * 4,
                                                           sizeof(Space<ShortShape128>) * 8,
                                                           sizeof(Space<ShortShape64>) * 16,
                                                           sizeof(Space<ShortShape32>) * 32,
                                                           sizeof(Space<ShortShape16>) * 32});

template <class S>
struct ShapeTag {
  using Shape = S;
};

/// Calls `work(tag, item)` with the shape of the block's rows and this lane's row.
template <class Work>
__device__ void with_short_row(const RowProfile& profile, const ShortRows& rows, const Work& work) {
  int list = 0;
  while (blockIdx.x >= rows.first_blocks[list + 1]) ++list;
  const Offset block = blockIdx.x - rows.first_blocks[list];
  const auto run = [&](auto tag) {
    using S = typename decltype(tag)::Shape;
    work(tag, item_of<S>(profile, rows.lists[list], block));
  };
  switch (list) {
    case 0: return run(ShapeTag<ShortShape256>{});
    case 1: return run(ShapeTag<ShortShape128>{});
    case 2:
    case 3:
    case 4: return run(ShapeTag<ShortShape64>{});
    case 5: return run(ShapeTag<ShortShape32>{});
    default: return run(ShapeTag<ShortShape16>{});
  }
}

}  // namespace csrkit::gpu

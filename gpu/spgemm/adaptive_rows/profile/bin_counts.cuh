// How many rows of a block are in each bin.
#pragma once

#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"
#include "gpu/spgemm/adaptive_rows/rules/rules.h"

namespace csrkit::gpu {

/// In shared memory. Adding row by row to the totals would take longer than the rest: the atomics
/// meet at few addresses.
struct BinCounts {
  std::uint32_t rows[kMostBins];

  __device__ void clear() {
    if (threadIdx.x < kMostBins) rows[threadIdx.x] = 0;
  }

  /// One row per lane. By all lanes.
  __device__ void add_row(bool has_row, int bin) {
    const unsigned mates = __match_any_sync(kAllLanes, has_row ? bin : kMostBins);
    const bool is_first = (mates & ((1u << (threadIdx.x & 31)) - 1)) == 0;
    if (has_row && is_first) atomicAdd(&rows[bin], static_cast<std::uint32_t>(__popc(mates)));
  }

  /// `totals`: of each bin, in global memory.
  __device__ void add_to(std::uint32_t* totals) const {
    if (threadIdx.x < kMostBins && rows[threadIdx.x] > 0) {
      atomicAdd(totals + threadIdx.x, rows[threadIdx.x]);
    }
  }
};

}  // namespace csrkit::gpu

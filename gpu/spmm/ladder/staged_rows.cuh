// One row of A times B for a group of lanes: A through shared memory, B in vectors. What the rungs
// from v5_vector_loads on have in common.
#pragma once

#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

inline constexpr int kStagedThreads = 256;
inline constexpr int kStagedBatch = 8;    // rows of B in flight per lane
inline constexpr int kMinStagedLog2 = 3;  // at least 8 lanes, or A would come in crumbs
inline constexpr int kMaxStagedLog2 = 5;

/// A tile of A's nonzeros per group of lanes; a block has one of these in shared memory.
template <class Types>
struct StagedTile {
  Index cols[kStagedThreads];
  typename Types::Accumulate values[kStagedThreads];
};

/// A group of 2^log2 neighbouring lanes of a warp, which share a row.
struct LaneGroup {
  int log2;
  int lane;       // within the group
  int first;      // thread index of its first lane, which is where its tile begins
  unsigned mask;  // its lanes within the warp

  __device__ explicit LaneGroup(int group_log2) : log2(group_log2) {
    const int thread = static_cast<int>(threadIdx.x), size = 1 << log2;
    lane = thread & (size - 1);
    first = thread - lane;
    mask = size == 32 ? 0xffffffffu : ((1u << size) - 1) << (first % 32);
  }
};

/// Adds the products of the entries [begin, end) to `sums`, which belong to the kWidth columns from
/// `b_column` on; a lane without columns helps to bring A. All lanes of the group must call it.
template <class Types, int kWidth>
__device__ void add_staged_entries(Sums<Types, kWidth>& sums, StagedTile<Types>& tile,
                                   const LaneGroup& group,
                                   const DeviceCsrView<typename Types::Value>& a, Offset begin,
                                   Offset end, const typename Types::Value* b_column,
                                   Offset leading_dim, bool has_columns) {
  const int size = 1 << group.log2;
  for (Offset at = begin; at < end; at += size) {
    const int here = static_cast<int>(min(Offset{size}, end - at));
    __syncwarp(group.mask);  // nobody reads the tile before any more
    if (group.lane < here) {
      tile.cols[group.first + group.lane] = load_once(a.col_indices + at + group.lane);
      tile.values[group.first + group.lane] = value_at<Types>(a, at + group.lane);
    }
    __syncwarp(group.mask);
    if (!has_columns) continue;
    for (int step = 0; step < here; step += kStagedBatch) {
      Pack<typename Types::Value, kWidth> y[kStagedBatch];
#pragma unroll
      for (int u = 0; u < kStagedBatch; ++u) {
        if (step + u < here) {
          y[u] =
              load_kept<kWidth>(b_column + Offset{tile.cols[group.first + step + u]} * leading_dim);
        }
      }
#pragma unroll
      for (int u = 0; u < kStagedBatch; ++u) {
        if (step + u < here) sums.add_product(tile.values[group.first + step + u], y[u]);
      }
    }
  }
}

/// Lanes per row, as a power of two, for `cols` columns in vectors of `width`.
inline int staged_group_log2(Index cols, int width) {
  const int needed = log2_ceiling((Offset{cols} + width - 1) / width);
  return needed < kMinStagedLog2   ? kMinStagedLog2
         : needed < kMaxStagedLog2 ? needed
                                   : kMaxStagedLog2;
}

}  // namespace csrkit::gpu

// Stores to rows of C that are not aligned.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

/// Shared memory for a row of C of every group of lanes. Padded by one (kWidth + 1), so that groups
/// of eight lanes use different banks.
template <class Number, int kWidth, int kLanes, int kThreads>
struct StagedRows {
  alignas(32) Number of_groups[kThreads / kLanes][kLanes * (kWidth + 1)];
  __device__ Number* mine() { return of_groups[threadIdx.x / kLanes]; }
};

/// C = alpha * sums + beta * C in the `cols` columns from `c` on, of which lane l holds kWidth from
/// kWidth * l on. Neighbouring lanes write neighbouring elements. Called by all lanes of a group.
template <int kLanes, class Types, int kWidth>
__device__ void store_by_elements(const Sums<Types, kWidth>& sums,
                                  typename Types::Accumulate* staged, int lane,
                                  typename Types::Output* c, Index cols,
                                  typename Types::Accumulate alpha,
                                  typename Types::Accumulate beta) {
  using Number = typename Types::Accumulate;
  const unsigned mask = lanes_of_group<kLanes>();
  __syncwarp(mask);  // the last row has been read
  Pack<Number, kWidth> pack;
  memcpy(&pack, sums.item, sizeof pack);
  *reinterpret_cast<Pack<Number, kWidth>*>(staged + lane * kWidth) = pack;
  __syncwarp(mask);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const int at = i * kLanes + lane;
    if (at >= cols) continue;
    Sums<Types, 1> one;
    one.item[0] = staged[at];
    one.store(c + at, alpha, beta);
  }
}

}  // namespace csrkit::gpu

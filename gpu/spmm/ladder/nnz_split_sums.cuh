// The parts of cut rows in nnz_split: pieces leave them in the workspace, a second kernel adds them
// up in the order of the pieces.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/ladder/nnz_split_pieces.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu::nnz_split {

constexpr int kMaxStreams = 16;  // warps that share a cut row in the second kernel

template <class Types, int kWidth>
__device__ void store_part(typename Types::Accumulate* to, const Sums<Types, kWidth>& sums) {
  Pack<typename Types::Accumulate, kWidth> pack;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) pack.item[i] = sums.item[i];
  store_once<typename Types::Accumulate, kWidth>(to, pack);
}

// One block per cut row: `blockDim.y` warps share its parts, each takes every blockDim.y-th in
// order; then the warps' sums are added in order.
template <class Types>
__global__ void add_up_cut_rows(const CutRow* cut_rows, const typename Types::Accumulate* parts,
                                DeviceDenseView<typename Types::Output> c,
                                typename Types::Accumulate alpha, typename Types::Accumulate beta,
                                AlgebraOf<Types> algebra) {
  using Number = typename Types::Accumulate;
  __shared__ Number sums[kMaxStreams][kWarpLanes];
  const CutRow cut = cut_rows[blockIdx.x];
  const int streams = static_cast<int>(blockDim.y), stream = static_cast<int>(threadIdx.y);
  for (Offset tile = Offset{blockIdx.y} * kWarpLanes; tile < c.cols;
       tile += Offset{gridDim.y} * kWarpLanes) {
    const Offset column = tile + threadIdx.x;
    Number sum = algebra.empty_sum();
    if (column < c.cols) {
#pragma unroll 4
      for (Index part = stream; part < cut.pieces; part += streams) {
        // The row's end is what its last piece began with, all else is what pieces ended with.
        const Offset slot = 2 * (cut.first_piece + part) + (part + 1 < cut.pieces ? 1 : 0);
        sum = algebra.add(sum, parts[slot * c.cols + column]);
      }
    }
    sums[stream][threadIdx.x] = sum;
    __syncthreads();
    if (stream == 0 && column < c.cols) {
      Sums<Types, 1> total;
      total.item[0] = sum;
      for (int other = 1; other < streams; ++other) {
        total.item[0] = algebra.add(total.item[0], sums[other][threadIdx.x]);
      }
      total.store(c.data + Offset{cut.row} * c.leading_dim + column, alpha, beta);
    }
    __syncthreads();  // before the next tile overwrites the sums
  }
}

}  // namespace csrkit::gpu::nnz_split

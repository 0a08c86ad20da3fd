// v3_columns_adjacent: one warp computes one row of C, each lane several columns, side by side.
// Owns     a lane: up to 8 neighbouring columns of one row, as sums in registers; a warp: up to 256
//          columns of the row, wider rows in the outer grid dimension; a block: 8 rows
// Reads    B one element per access, lanes kPerLane elements apart, so that one access of a warp
//          touches kPerLane times as many sectors; A the same address in all lanes; no shared
//          memory
// Launch   256 threads, 8 warps
// Needs    nothing
// Against  v2_columns_strided: the same work, the columns of a lane mapped the other way round,
//          which costs: L1 serves every sector kPerLane times. The mapping pays only once a lane
//          takes its neighbours in one access (v5_vector_loads); as it stands it is the step not to
//          take.

#pragma once

#include "gpu/spmm/ladder/warp_rows.cuh"

namespace csrkit::gpu {

template <class Types, int kPerLane>
__global__ void __launch_bounds__(kRungThreads)
    columns_adjacent(DeviceCsrView<typename Types::Value> a,
                     DeviceDenseView<const typename Types::Value> b,
                     DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                     typename Types::Accumulate beta, Offset first_tile) {
  const Offset warp = (Offset{blockIdx.x} * kRungThreads + threadIdx.x) / kWarpLanes;
  if (warp >= c.rows) return;
  const auto row = static_cast<Index>(warp);
  const Offset column =
      ((first_tile + blockIdx.y) * kWarpLanes + static_cast<int>(threadIdx.x) % kWarpLanes) *
      kPerLane;
  Sums<Types, 1> sums[kPerLane];
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) sums[i].clear();
  const Offset end = a.row_end(row);
  for (Offset at = a.row_begin(row); at < end; ++at) {
    const typename Types::Value* from = b.data + Offset{a.col_indices[at]} * b.leading_dim + column;
    const auto x = value_at<Types>(a, at);
    Pack<typename Types::Value, 1> y[kPerLane];
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      if (column + i < c.cols) y[i] = load_kept<1>(from + i);
    }
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      if (column + i < c.cols) sums[i].add_product(x, y[i]);
    }
  }
  typename Types::Output* to = c.data + Offset{row} * c.leading_dim + column;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    if (column + i < c.cols) sums[i].store(to + i, alpha, beta);
  }
}

/// Queues it with kPerLane columns a lane, for any number of columns.
template <class Types, int kPerLane>
void launch_columns_adjacent(const DeviceCsrView<typename Types::Value>& a,
                             const DeviceDenseView<const typename Types::Value>& b,
                             const DeviceDenseView<typename Types::Output>& c,
                             typename Types::Accumulate alpha, typename Types::Accumulate beta,
                             cudaStream_t stream) {
  launch_rung<kPerLane>(c, [&](const dim3& grid, Offset first_tile) {
    columns_adjacent<Types, kPerLane>
        <<<grid, kRungThreads, 0, stream>>>(a, b, c, alpha, beta, first_tile);
    CHECK_LAUNCH("columns_adjacent", stream);
  });
}

/// The rung: a lane takes as many columns as a row has for it, up to 8.
template <class Types>
struct ColumnsAdjacent : NoAnalysis<Types> {
  void launch(const DeviceCsrView<typename Types::Value>& a,
              const DeviceDenseView<const typename Types::Value>& b,
              const DeviceDenseView<typename Types::Output>& c, typename Types::Accumulate alpha,
              typename Types::Accumulate beta, void*, cudaStream_t stream) const {
    with_columns_per_lane(c.cols, [&](auto per_lane) {
      launch_columns_adjacent<Types, decltype(per_lane)::value>(a, b, c, alpha, beta, stream);
    });
  }
};

}  // namespace csrkit::gpu

// v2_columns_strided: one warp computes one row of C, each lane several columns, 32 apart.
// Owns     a lane: up to 8 columns of one row, as sums in registers; a warp: up to 256 columns of
//          the row, wider rows in the outer grid dimension; a block: 8 rows
// Reads    B coalesced, kPerLane times 32 neighbours of a row, all asked for before the first is
//          used; A the same address in all lanes; no shared memory
// Launch   256 threads, 8 warps
// Needs    nothing
// Against  v1_warp_per_row: at K = 256 A is walked once instead of 8 times, and 8 loads of B are in
//          flight instead of 1. At K = 32 nothing changes: one lane, one column. Still bad: the
//          walk over A is one dependent load after the other.

#pragma once

#include "gpu/spmm/ladder/warp_rows.cuh"

namespace csrkit::gpu {

template <class Types, int kPerLane>
__global__ void __launch_bounds__(kRungThreads)
    columns_strided(DeviceCsrView<typename Types::Value> a,
                    DeviceDenseView<const typename Types::Value> b,
                    DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                    typename Types::Accumulate beta, Offset first_tile) {
  const Offset warp = (Offset{blockIdx.x} * kRungThreads + threadIdx.x) / kWarpLanes;
  if (warp >= c.rows) return;
  const auto row = static_cast<Index>(warp);
  const Offset column = (first_tile + blockIdx.y) * kWarpLanes * kPerLane +
                        static_cast<int>(threadIdx.x) % kWarpLanes;
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
      if (column + i * kWarpLanes < c.cols) y[i] = load_kept<1>(from + i * kWarpLanes);
    }
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      if (column + i * kWarpLanes < c.cols) sums[i].add_product(x, y[i]);
    }
  }
  typename Types::Output* to = c.data + Offset{row} * c.leading_dim + column;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    if (column + i * kWarpLanes < c.cols) sums[i].store(to + i * kWarpLanes, alpha, beta);
  }
}

/// Queues it with kPerLane columns a lane, for any number of columns.
template <class Types, int kPerLane>
void launch_columns_strided(const DeviceCsrView<typename Types::Value>& a,
                            const DeviceDenseView<const typename Types::Value>& b,
                            const DeviceDenseView<typename Types::Output>& c,
                            typename Types::Accumulate alpha, typename Types::Accumulate beta,
                            cudaStream_t stream) {
  launch_rung<kPerLane>(c, [&](const dim3& grid, Offset first_tile) {
    columns_strided<Types, kPerLane>
        <<<grid, kRungThreads, 0, stream>>>(a, b, c, alpha, beta, first_tile);
    CHECK_LAUNCH("columns_strided", stream);
  });
}

/// The rung: a lane takes as many columns as a row has for it, up to 8.
template <class Types>
struct ColumnsStrided : NoAnalysis<Types> {
  void launch(const DeviceCsrView<typename Types::Value>& a,
              const DeviceDenseView<const typename Types::Value>& b,
              const DeviceDenseView<typename Types::Output>& c, typename Types::Accumulate alpha,
              typename Types::Accumulate beta, void*, cudaStream_t stream) const {
    with_columns_per_lane(c.cols, [&](auto per_lane) {
      launch_columns_strided<Types, decltype(per_lane)::value>(a, b, c, alpha, beta, stream);
    });
  }
};

}  // namespace csrkit::gpu

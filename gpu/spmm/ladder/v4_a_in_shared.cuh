// v4_a_in_shared: A's row comes through shared memory, 32 nonzeros at a time.
// Owns     a lane: up to 8 columns of one row, 32 apart, as sums in registers; a warp: up to 256
//          columns of the row, wider rows in the outer grid dimension; a block: 8 rows
// Reads    A coalesced, each lane one nonzero of the tile, then from shared memory, the same
//          address in all lanes; B coalesced, kBatch nonzeros asked for together; 256 columns and
//          values in shared memory, 2 or 3 KiB
// Launch   256 threads, 8 warps; tiles belong to warps, so no barrier but the warp's
// Needs    nothing
// Against  v2_columns_strided: a nonzero costs no trip to L1 of its own, and since the columns of
//          the tile are known, rows of B of several nonzeros are in flight at once. Still bad: at K
//          = 32 an access of a lane is 4 bytes, so much index arithmetic per byte; a hub row is one
//          warp's.

#pragma once

#include "gpu/spmm/ladder/warp_rows.cuh"

namespace csrkit::gpu {

template <class Types, int kPerLane, int kTile>
__global__ void __launch_bounds__(kRungThreads)
    a_in_shared(DeviceCsrView<typename Types::Value> a,
                DeviceDenseView<const typename Types::Value> b,
                DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                typename Types::Accumulate beta, Offset first_tile) {
  using Number = typename Types::Accumulate;
  constexpr int kLoadsInFlight = 8;  // per lane, over nonzeros and columns
  constexpr int kBatch = kLoadsInFlight / kPerLane;
  __shared__ Index tile_cols[kRungThreads / kWarpLanes * kTile];
  __shared__ Number tile_values[kRungThreads / kWarpLanes * kTile];
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int tile = static_cast<int>(threadIdx.x) / kWarpLanes * kTile;  // where the warp's begins
  const Offset warp = (Offset{blockIdx.x} * kRungThreads + threadIdx.x) / kWarpLanes;
  if (warp >= c.rows) return;
  const auto row = static_cast<Index>(warp);
  const Offset column = (first_tile + blockIdx.y) * kWarpLanes * kPerLane + lane;
  Sums<Types, 1> sums[kPerLane];
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) sums[i].clear();
  const Offset end = a.row_end(row);
  for (Offset at = a.row_begin(row); at < end; at += kTile) {
    const int here = static_cast<int>(min(Offset{kTile}, end - at));
    __syncwarp();  // nobody reads the tile before any more
#pragma unroll
    for (int first = 0; first < kTile; first += kWarpLanes) {
      const int entry = first + lane;
      if (entry < here) {
        tile_cols[tile + entry] = load_once(a.col_indices + at + entry);
        tile_values[tile + entry] = value_at<Types>(a, at + entry);
      }
    }
    __syncwarp();
    for (int step = 0; step < here; step += kBatch) {
      Pack<typename Types::Value, 1> y[kBatch][kPerLane];
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if (step + u >= here) continue;
        const typename Types::Value* from =
            b.data + Offset{tile_cols[tile + step + u]} * b.leading_dim + column;
#pragma unroll
        for (int i = 0; i < kPerLane; ++i) {
          if (column + i * kWarpLanes < c.cols) y[u][i] = load_kept<1>(from + i * kWarpLanes);
        }
      }
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if (step + u >= here) continue;
#pragma unroll
        for (int i = 0; i < kPerLane; ++i) {
          if (column + i * kWarpLanes < c.cols) {
            sums[i].add_product(tile_values[tile + step + u], y[u][i]);
          }
        }
      }
    }
  }
  typename Types::Output* to = c.data + Offset{row} * c.leading_dim + column;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    if (column + i * kWarpLanes < c.cols) sums[i].store(to + i * kWarpLanes, alpha, beta);
  }
}

/// Queues it with kPerLane columns a lane and kTile nonzeros a warp, for any number of columns.
template <class Types, int kPerLane, int kTile>
void launch_a_in_shared(const DeviceCsrView<typename Types::Value>& a,
                        const DeviceDenseView<const typename Types::Value>& b,
                        const DeviceDenseView<typename Types::Output>& c,
                        typename Types::Accumulate alpha, typename Types::Accumulate beta,
                        cudaStream_t stream) {
  launch_rung<kPerLane>(c, [&](const dim3& grid, Offset first_tile) {
    a_in_shared<Types, kPerLane, kTile>
        <<<grid, kRungThreads, 0, stream>>>(a, b, c, alpha, beta, first_tile);
    CHECK_LAUNCH("a_in_shared", stream);
  });
}

/// The rung: a lane takes as many columns as a row has for it, up to 8.
template <class Types>
struct AInShared : NoAnalysis<Types> {
  void launch(const DeviceCsrView<typename Types::Value>& a,
              const DeviceDenseView<const typename Types::Value>& b,
              const DeviceDenseView<typename Types::Output>& c, typename Types::Accumulate alpha,
              typename Types::Accumulate beta, void*, cudaStream_t stream) const {
    constexpr int kTile = 32;
    with_columns_per_lane(c.cols, [&](auto per_lane) {
      launch_a_in_shared<Types, decltype(per_lane)::value, kTile>(a, b, c, alpha, beta, stream);
    });
  }
};

}  // namespace csrkit::gpu

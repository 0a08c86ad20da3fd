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

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kLoadsInFlight = 8;  // per lane, over nonzeros and columns

template <class Types, int kPerLane>
__global__ void __launch_bounds__(kThreads)
    a_in_shared(DeviceCsrView<typename Types::Value> a,
                DeviceDenseView<const typename Types::Value> b,
                DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                typename Types::Accumulate beta, Offset first_tile) {
  using Number = typename Types::Accumulate;
  constexpr int kBatch = kLoadsInFlight / kPerLane;
  __shared__ Index tile_cols[kThreads];
  __shared__ Number tile_values[kThreads];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int tile = static_cast<int>(threadIdx.x) - lane;  // where the warp's tile begins
  const Offset warp = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kWarp;
  if (warp >= c.rows) return;
  const auto row = static_cast<Index>(warp);
  const Offset column = (first_tile + blockIdx.y) * kWarp * kPerLane + lane;
  Sums<Types, 1> sums[kPerLane];
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) sums[i].clear();
  const Offset end = a.row_end(row);
  for (Offset at = a.row_begin(row); at < end; at += kWarp) {
    const int here = static_cast<int>(min(Offset{kWarp}, end - at));
    __syncwarp();  // nobody reads the tile before any more
    if (lane < here) {
      tile_cols[tile + lane] = load_once(a.col_indices + at + lane);
      tile_values[tile + lane] = value_at<Types>(a, at + lane);
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
          if (column + i * kWarp < c.cols) y[u][i] = load_kept<1>(from + i * kWarp);
        }
      }
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if (step + u >= here) continue;
#pragma unroll
        for (int i = 0; i < kPerLane; ++i) {
          if (column + i * kWarp < c.cols) {
            sums[i].add_product(tile_values[tile + step + u], y[u][i]);
          }
        }
      }
    }
  }
  typename Types::Output* to = c.data + Offset{row} * c.leading_dim + column;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    if (column + i * kWarp < c.cols) sums[i].store(to + i * kWarp, alpha, beta);
  }
}

template <class Types>
struct AInShared : NoAnalysis<Types> {
  using Number = typename Types::Accumulate;
  using A = DeviceCsrView<typename Types::Value>;
  using B = DeviceDenseView<const typename Types::Value>;
  using C = DeviceDenseView<typename Types::Output>;

  void launch(const A& a, const B& b, const C& c, Number alpha, Number beta, void*,
              cudaStream_t stream) const {
    if (c.cols <= kWarp) return launch_with<1>(a, b, c, alpha, beta, stream);
    if (c.cols <= 2 * kWarp) return launch_with<2>(a, b, c, alpha, beta, stream);
    if (c.cols <= 4 * kWarp) return launch_with<4>(a, b, c, alpha, beta, stream);
    launch_with<8>(a, b, c, alpha, beta, stream);
  }

 private:
  template <int kPerLane>
  void launch_with(const A& a, const B& b, const C& c, Number alpha, Number beta,
                   cudaStream_t stream) const {
    constexpr Offset kTile = Offset{kWarp} * kPerLane;
    const Offset blocks = (Offset{c.rows} * kWarp + kThreads - 1) / kThreads;
    const Offset tiles = (Offset{c.cols} + kTile - 1) / kTile;
    for (Offset done = 0; done < tiles; done += kMaxGridY) {
      const dim3 grid(static_cast<unsigned>(blocks),
                      static_cast<unsigned>(std::min(tiles - done, kMaxGridY)));
      a_in_shared<Types, kPerLane><<<grid, kThreads, 0, stream>>>(a, b, c, alpha, beta, done);
      CHECK_LAUNCH("a_in_shared", stream);
    }
  }
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_v4_a_in_shared(const SpmmProblem& problem) {
  return typed_wide_spmm<AInShared>(problem);
}

}  // namespace csrkit::gpu

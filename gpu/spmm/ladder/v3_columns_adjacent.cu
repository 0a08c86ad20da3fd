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

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;

template <class Types, int kPerLane>
__global__ void __launch_bounds__(kThreads)
    columns_adjacent(DeviceCsrView<typename Types::Value> a,
                     DeviceDenseView<const typename Types::Value> b,
                     DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                     typename Types::Accumulate beta, Offset first_tile) {
  const Offset warp = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kWarp;
  if (warp >= c.rows) return;
  const auto row = static_cast<Index>(warp);
  const Offset column =
      ((first_tile + blockIdx.y) * kWarp + static_cast<int>(threadIdx.x) % kWarp) * kPerLane;
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

template <class Types>
struct ColumnsAdjacent : NoAnalysis<Types> {
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
      columns_adjacent<Types, kPerLane><<<grid, kThreads, 0, stream>>>(a, b, c, alpha, beta, done);
      CHECK_LAUNCH("columns_adjacent", stream);
    }
  }
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_v3_columns_adjacent(const SpmmProblem& problem) {
  return typed_wide_spmm<ColumnsAdjacent>(problem);
}

}  // namespace csrkit::gpu

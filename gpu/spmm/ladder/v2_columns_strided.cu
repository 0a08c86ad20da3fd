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
    columns_strided(DeviceCsrView<typename Types::Value> a,
                    DeviceDenseView<const typename Types::Value> b,
                    DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                    typename Types::Accumulate beta, Offset first_tile) {
  const Offset warp = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kWarp;
  if (warp >= c.rows) return;
  const auto row = static_cast<Index>(warp);
  const Offset column =
      (first_tile + blockIdx.y) * kWarp * kPerLane + static_cast<int>(threadIdx.x) % kWarp;
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
      if (column + i * kWarp < c.cols) y[i] = load_kept<1>(from + i * kWarp);
    }
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      if (column + i * kWarp < c.cols) sums[i].add_product(x, y[i]);
    }
  }
  typename Types::Output* to = c.data + Offset{row} * c.leading_dim + column;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    if (column + i * kWarp < c.cols) sums[i].store(to + i * kWarp, alpha, beta);
  }
}

template <class Types>
struct ColumnsStrided : NoAnalysis<Types> {
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
      columns_strided<Types, kPerLane><<<grid, kThreads, 0, stream>>>(a, b, c, alpha, beta, done);
      CHECK_LAUNCH("columns_strided", stream);
    }
  }
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_v2_columns_strided(const SpmmProblem& problem) {
  return typed_wide_spmm<ColumnsStrided>(problem);
}

}  // namespace csrkit::gpu

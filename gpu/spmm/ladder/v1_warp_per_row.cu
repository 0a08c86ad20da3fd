// v1_warp_per_row: one warp computes one row of C, 32 columns at a time.
// Owns     a lane: every 32nd column of one row; a warp: the row; a block: 8 rows
// Reads    B coalesced, 32 neighbours of a row; A the same address in all lanes, a broadcast from
//          L1; no shared memory
// Launch   256 threads, 8 warps
// Needs    nothing
// Against  v0_thread_per_element: a warp no longer spans rows, and index arithmetic is done once
//          per row. Still bad: one load of B in flight per lane; lanes idle when K < 32; a hub row
//          keeps one warp busy long after all others are done.

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;

template <class Types>
__global__ void __launch_bounds__(kThreads)
    warp_per_row(DeviceCsrView<typename Types::Value> a,
                 DeviceDenseView<const typename Types::Value> b,
                 DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                 typename Types::Accumulate beta, AlgebraOf<Types> algebra) {
  const Offset warp = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kWarp;
  if (warp >= c.rows) return;
  const auto row = static_cast<Index>(warp);
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  for (Offset column = threadIdx.x % kWarp; column < c.cols; column += kWarp) {
    Sums<Types, 1> sum;
    sum.clear(algebra);
    for (Offset at = begin; at < end; ++at) {
      const Index from = a.col_indices[at];
      sum.add_product(value_at<Types>(a, at),
                      load_kept<1>(b.data + Offset{from} * b.leading_dim + column));
    }
    sum.store(c.data + Offset{row} * c.leading_dim + column, alpha, beta);
  }
}

template <class Types>
struct WarpPerRow : NoAnalysis<Types> {
  const AlgebraOf<Types> algebra;

  explicit WarpPerRow(const SpmmProblem& problem) : algebra(problem.semiring) {}

  void launch(const DeviceCsrView<typename Types::Value>& a,
              const DeviceDenseView<const typename Types::Value>& b,
              const DeviceDenseView<typename Types::Output>& c, typename Types::Accumulate alpha,
              typename Types::Accumulate beta, void*, cudaStream_t stream) const {
    const Offset blocks = (Offset{c.rows} * kWarp + kThreads - 1) / kThreads;
    warp_per_row<Types>
        <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(a, b, c, alpha, beta, algebra);
    CHECK_LAUNCH("warp_per_row", stream);
  }
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_v1_warp_per_row(const SpmmProblem& problem) {
  return typed_spmm<WarpPerRow>(problem);
}

}  // namespace csrkit::gpu

// v0_thread_per_element: one thread computes one element of C.
// Owns     a thread: one element; a warp: 32 neighbours of the row-major C
// Reads    B coalesced along the row when K is a multiple of 32; A once per thread, the same
//          address in all threads of a row, so a broadcast; no shared memory
// Launch   256 threads: enough warps to hide latency, no reason for more
// Needs    nothing
// Against  the first rung. Bad: every thread walks A on its own, one load of B in flight, and a
//          warp that spans rows waits for the longest of them.

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;

template <class Types>
__global__ void __launch_bounds__(kThreads)
    thread_per_element(DeviceCsrView<typename Types::Value> a,
                       DeviceDenseView<const typename Types::Value> b,
                       DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                       typename Types::Accumulate beta, AlgebraOf<Types> algebra) {
  const Offset element = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (element >= Offset{c.rows} * c.cols) return;
  const auto row = static_cast<Index>(element / c.cols);
  const auto column = static_cast<Index>(element % c.cols);
  Sums<Types, 1> sum;
  sum.clear(algebra);
  const Offset end = a.row_end(row);
  for (Offset at = a.row_begin(row); at < end; ++at) {
    const Index from = a.col_indices[at];
    sum.add_product(value_at<Types>(a, at),
                    load_kept<1>(b.data + Offset{from} * b.leading_dim + column));
  }
  sum.store(c.data + Offset{row} * c.leading_dim + column, alpha, beta);
}

template <class Types>
struct ThreadPerElement : NoAnalysis<Types> {
  const AlgebraOf<Types> algebra;

  explicit ThreadPerElement(const SpmmProblem& problem) : algebra(problem.semiring) {}

  void launch(const DeviceCsrView<typename Types::Value>& a,
              const DeviceDenseView<const typename Types::Value>& b,
              const DeviceDenseView<typename Types::Output>& c, typename Types::Accumulate alpha,
              typename Types::Accumulate beta, void*, cudaStream_t stream) const {
    const Offset blocks = (Offset{c.rows} * c.cols + kThreads - 1) / kThreads;
    if (blocks > kMaxIndex) {
      throw UsageError("v0_thread_per_element: C has more elements than a grid has threads");
    }
    thread_per_element<Types>
        <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(a, b, c, alpha, beta, algebra);
    CHECK_LAUNCH("thread_per_element", stream);
  }
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_v0_thread_per_element(const SpmmProblem& problem) {
  return typed_spmm<ThreadPerElement>(problem);
}

}  // namespace csrkit::gpu

// row_split: part of a warp per row, with vector loads and several rows of B in flight.
// Owns     a group of 8, 16 or 32 lanes: one row of C, or a tile of its columns; a lane:
//          neighbouring columns, 16 bytes of B; where K needs fewer than 8 lanes, the group's lanes
//          also share the nonzeros, every 2nd, 4th or 8th, and add up by shuffles at the end, in a
//          fixed order
// Reads    B: one aligned vector per lane, kBatch of them asked for before the first is used; A:
//          the same address in the lanes that work on one nonzero; no shared memory, no atomics
// Launch   256 threads; tiles of columns in the outer grid dimension
// Needs    nothing: the width of the vectors follows from K, leading dimensions and addresses
// Against  v5_vector_loads, for every kind, semiring and width: no idle lanes at small K. Still
//          bad: rows are not cut, so a hub row is one group's work. nnz_split, the next rung, cuts
//          them

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kBatch = 8;         // loads of B in flight per lane: 32 registers at 16 bytes
constexpr int kMinGroupLog2 = 3;  // fewer lanes per row would leave A's loads uncoalesced
constexpr int kMaxGroupLog2 = 5;

template <class Types, int kWidth>
__global__ void __launch_bounds__(kThreads)
    row_split_rows(DeviceCsrView<typename Types::Value> a,
                   DeviceDenseView<const typename Types::Value> b,
                   DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                   typename Types::Accumulate beta, AlgebraOf<Types> algebra, int lanes_log2,
                   int group_log2, Offset first_column) {
  using Number = typename Types::Accumulate;
  using Value = typename Types::Value;
  const int member = static_cast<int>(threadIdx.x) & ((1 << group_log2) - 1);
  const int lane = member & ((1 << lanes_log2) - 1);  // which columns
  const int stream = member >> lanes_log2;            // which share of the nonzeros
  const int streams = 1 << (group_log2 - lanes_log2);
  const Offset unit = (Offset{blockIdx.x} * kThreads + threadIdx.x) >> group_log2;
  const Offset column = first_column + ((Offset{blockIdx.y} << lanes_log2) + lane) * kWidth;
  const bool is_active = unit < c.rows && column < c.cols;
  const Index row = is_active ? static_cast<Index>(unit) : 0;
  const Offset end = is_active ? a.row_end(row) : 0;
  const Value* b_column = b.data + column;

  Sums<Types, kWidth> sums;
  sums.clear(algebra);
  for (Offset at = is_active ? a.row_begin(row) + stream : 0; at < end; at += kBatch * streams) {
    Index from[kBatch];
    Number x[kBatch];
    Pack<Value, kWidth> y[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      const Offset entry = at + u * streams;
      from[u] = entry < end ? load_once(a.col_indices + entry) : -1;
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (from[u] >= 0) {
        x[u] = value_at<Types>(a, at + u * streams);
        y[u] = load_kept<kWidth>(b_column + Offset{from[u]} * b.leading_dim);
      }
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (from[u] >= 0) sums.add_product(x[u], y[u]);
    }
  }
  for (int distance = 1 << lanes_log2; distance < 1 << group_log2; distance *= 2) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const Number other = __shfl_xor_sync(kAllLanes, sums.item[i], distance);
      sums.item[i] = algebra.add(sums.item[i], other);
    }
  }
  if (is_active && stream == 0) {
    sums.store(c.data + Offset{row} * c.leading_dim + column, alpha, beta);
  }
}

template <class Types>
struct RowSplit : NoAnalysis<Types> {
  const AlgebraOf<Types> algebra;

  explicit RowSplit(const SpmmProblem& problem) : algebra(problem.semiring) {}

  void launch(const DeviceCsrView<typename Types::Value>& a,
              const DeviceDenseView<const typename Types::Value>& b,
              const DeviceDenseView<typename Types::Output>& c, typename Types::Accumulate alpha,
              typename Types::Accumulate beta, void*, cudaStream_t stream) const {
    with_width<Types>(widest_access(b, c), [&](auto width) {
      constexpr int kWidth = decltype(width)::value;
      const int needed_log2 = log2_ceiling((Offset{c.cols} + kWidth - 1) / kWidth);
      const int lanes_log2 = needed_log2 < kMaxGroupLog2 ? needed_log2 : kMaxGroupLog2;
      const int group_log2 = lanes_log2 < kMinGroupLog2 ? kMinGroupLog2 : lanes_log2;
      const Offset tile = Offset{kWidth} << lanes_log2;
      const Offset tiles = (Offset{c.cols} + tile - 1) / tile;
      const Offset blocks = ((Offset{c.rows} << group_log2) + kThreads - 1) / kThreads;
      for (Offset done = 0; done < tiles; done += kMaxGridY) {
        const Offset now = tiles - done < kMaxGridY ? tiles - done : kMaxGridY;
        const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(now));
        row_split_rows<Types, kWidth><<<grid, kThreads, 0, stream>>>(
            a, b, c, alpha, beta, algebra, lanes_log2, group_log2, done * tile);
        CHECK_LAUNCH("row_split_rows", stream);
      }
    });
  }
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_row_split(const SpmmProblem& problem) {
  return typed_spmm<RowSplit>(problem);
}

}  // namespace csrkit::gpu

// Rows of C that are one row of B, in adaptive_rows.
// Owns     8 lanes, or two where rows of B have at most two entries on average: one row; a block:
//          the rows of its lanes, of which it copies the long ones with all threads
// Reads    A's entry, and one row of B
// Launch   256 threads
// Against  a warp per row: most rows are shorter. A row takes five reads, one after the other, so
//          with few lanes a row more rows are under way

#include <type_traits>

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/numeric/make.h"
#include "gpu/spgemm/adaptive_rows/primitives/launch.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kCopyThreads = 256;
constexpr int kCopyLanes = 8, kLanesOfShort = 2;
constexpr Offset kLongCopy = 64;  // entries of a lane from which the whole block copies a row

template <class Value>
__device__ void copy_row(Structure structure, const MakeRows<Value>& op, Index row, int rank,
                         int lanes) {
  const Offset entry = op.a.row_begin(row);
  const Index source = __ldg(op.a.col_indices + entry);
  const Value x = value_of(op.a, entry), nothing = empty_sum<Value>(op.semiring);
  const Offset from = op.b.row_begin(source), to = op.c.row_offsets[row];
  const Offset length = op.b.row_end(source) - from;
#pragma unroll 4
  for (Offset i = rank; i < length; i += lanes) {
    if (structure == Structure::wanted) {
      op.c.col_indices[to + i] = __ldg(op.b.col_indices + from + i);
    }
    op.c.values[to + i] = op.alpha * add_product(op.semiring, nothing, x, value_of(op.b, from + i));
  }
}

template <int kLanes, class Value>
__global__ void __launch_bounds__(kCopyThreads)
    copy_scaled_rows(Structure structure, MakeRows<Value> op, RowList list) {
  __shared__ Index long_rows[kCopyThreads / kLanes];
  __shared__ int long_count;
  if (threadIdx.x == 0) long_count = 0;
  __syncthreads();
  const Offset item = (Offset{blockIdx.x} * kCopyThreads + threadIdx.x) / kLanes;
  const int rank = static_cast<int>(threadIdx.x) & (kLanes - 1);
  if (item < list.count) {
    const Index row = list.rows[item];
    if (op.c.row_offsets[Offset{row} + 1] - op.c.row_offsets[row] <= kLongCopy * kLanes) {
      copy_row(structure, op, row, rank, kLanes);
    } else if (rank == 0) {
      long_rows[atomicAdd(&long_count, 1)] = row;
    }
  }
  __syncthreads();
  for (int i = 0; i < long_count; ++i) {
    copy_row(structure, op, long_rows[i], static_cast<int>(threadIdx.x), kCopyThreads);
  }
}

}  // namespace

template <class Value>
void copy_rows(Structure structure, const MakeRows<Value>& op, const RowList& list,
               cudaStream_t stream) {
  const auto launch = [&](auto lanes) {
    launch_rows<kCopyThreads, lanes>(copy_scaled_rows<lanes, Value>, "copy_scaled_rows", list.count,
                                     0, stream, structure, op, list);
  };
  if (op.b.nnz <= 2 * Offset{op.b.rows}) {
    launch(std::integral_constant<int, kLanesOfShort>{});
  } else {
    launch(std::integral_constant<int, kCopyLanes>{});
  }
}

template void copy_rows(Structure, const MakeRows<float>&, const RowList&, cudaStream_t);
template void copy_rows(Structure, const MakeRows<double>&, const RowList&, cudaStream_t);

}  // namespace csrkit::gpu

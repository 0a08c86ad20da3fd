// Rows of C that are one row of B, in adaptive_rows.
// Owns     8 lanes: one row; a block: 32 rows, of which it copies the long ones with all threads
// Reads    A's entry, and one row of B
// Launch   256 threads
// Against  a warp per row: most rows are shorter

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/launch.cuh"
#include "gpu/spgemm/adaptive_rows/make.h"
#include "gpu/spgemm/adaptive_rows/row_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kCopyThreads = 256;
constexpr int kCopyLanes = 8;
constexpr Offset kLongCopy = 512;  // entries from which the whole block copies a row

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

template <class Value>
__global__ void __launch_bounds__(kCopyThreads)
    copy_scaled_rows(Structure structure, MakeRows<Value> op, RowList list) {
  __shared__ Index long_rows[kCopyThreads / kCopyLanes];
  __shared__ int long_count;
  if (threadIdx.x == 0) long_count = 0;
  __syncthreads();
  const Offset item = (Offset{blockIdx.x} * kCopyThreads + threadIdx.x) / kCopyLanes;
  const int rank = static_cast<int>(threadIdx.x) & (kCopyLanes - 1);
  if (item < list.count) {
    const Index row = list.rows[item];
    if (op.c.row_offsets[Offset{row} + 1] - op.c.row_offsets[row] <= kLongCopy) {
      copy_row(structure, op, row, rank, kCopyLanes);
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
  launch_rows<kCopyThreads, kCopyLanes>(copy_scaled_rows<Value>, "copy_scaled_rows", list.count, 0,
                                        stream, structure, op, list);
}

template void copy_rows(Structure, const MakeRows<float>&, const RowList&, cudaStream_t);
template void copy_rows(Structure, const MakeRows<double>&, const RowList&, cudaStream_t);

}  // namespace csrkit::gpu

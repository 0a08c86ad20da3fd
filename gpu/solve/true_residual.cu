#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/warp.cuh"
#include "gpu/solve/true_residual.h"

namespace csrkit::gpu {

namespace {

constexpr int kBlockThreads = 256;
constexpr int kLanes = 8;  // of a row: most systems have short rows

/// kLanes threads per row and column.
template <class A, class X>
__global__ void sparse_residual(DeviceCsrView<A> a, Index columns, const X* b, const X* x,
                                double* wide) {
  const Offset group = (Offset{blockIdx.x} * kBlockThreads + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const Offset row = group / columns, column = group % columns;
  double sum = 0;
  if (row < a.rows) {
    const Offset end = a.row_end(static_cast<Index>(row));
    for (Offset at = a.row_begin(static_cast<Index>(row)) + lane; at < end; at += kLanes) {
      const double value = a.values == nullptr ? 1 : static_cast<double>(a.values[at]);
      sum += value * static_cast<double>(x[Offset{a.col_indices[at]} * columns + column]);
    }
  }
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(lanes_of_group<kLanes>(), sum, offset);
  }
  if (row < a.rows && lane == 0) {
    wide[row * columns + column] = static_cast<double>(b[row * columns + column]) - sum;
  }
}

/// The sum over the block's threads, in a fixed order; valid in thread 0.
__device__ double sum_of_threads(double sum) {
  __shared__ double part[kBlockThreads];
  part[threadIdx.x] = sum;
  for (int half = kBlockThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  return part[0];
}

/// A block per row and column.
template <class A, class X>
__global__ void dense_residual(SquareView<A> a, Index columns, const X* b, const X* x,
                               double* wide) {
  const Offset row = blockIdx.x, column = blockIdx.y;
  double sum = 0;
  const bool is_full = a.layout == SquareLayout::full;
  const A* const a_row = a.data + row * a.pitch;
#pragma unroll 4
  for (Offset col = threadIdx.x; col < a.rows; col += kBlockThreads) {
    const A value = is_full ? a_row[col] : a.at(row, col);
    sum += static_cast<double>(value) * static_cast<double>(x[col * columns + column]);
  }
  sum = sum_of_threads(sum);
  if (threadIdx.x == 0) {
    wide[row * columns + column] = static_cast<double>(b[row * columns + column]) - sum;
  }
}

template <class T>
__global__ void narrow(Offset size, Index columns, const double* from, const double* scales,
                       T* to) {
  const Offset i = Offset{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (i >= size) return;
  to[i] = static_cast<T>(scales == nullptr ? from[i] : from[i] / scales[i % columns]);
}

__global__ void correct(Offset size, Index columns, const double* scales, const float* correction,
                        double* x) {
  const Offset i = Offset{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (i >= size) return;
  x[i] += scales[i % columns] * static_cast<double>(correction[i]);
}

/// Partial sums of squares: gridDim.x blocks for each column.
template <class T>
__global__ void squares(Index rows, Index columns, const T* vectors, double* parts) {
  const Offset step = Offset{gridDim.x} * kBlockThreads;
  double sum = 0;
#pragma unroll 4
  for (Offset row = Offset{blockIdx.x} * kBlockThreads + threadIdx.x; row < rows; row += step) {
    const auto value = static_cast<double>(vectors[row * columns + blockIdx.y]);
    sum += value * value;
  }
  sum = sum_of_threads(sum);
  if (threadIdx.x == 0) parts[Offset{blockIdx.y} * gridDim.x + blockIdx.x] = sum;
}

/// A block per column.
__global__ void add_parts(const double* parts, int count, double* sums) {
  const bool has_part = static_cast<int>(threadIdx.x) < count;
  const double sum = sum_of_threads(has_part ? parts[Offset{blockIdx.x} * count + threadIdx.x] : 0);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

}  // namespace

ResidualMatrix::ResidualMatrix(const SolveProblem& problem, SquareLayout layout,
                               DeviceMemory& memory)
    : rows_(problem.rows()),
      columns_(problem.right_hand_sides),
      kind_(problem.dense ? problem.dense->kind() : problem.a.value_kind()),
      is_dense_(problem.dense != nullptr) {
  if (is_dense_) {
    square_ = DeviceSquare(memory, *problem.dense, kind_, layout);
  } else {
    sparse_ = DeviceCsr(memory, problem.a);
  }
  CHECK_CUDA(cudaStreamSynchronize(memory.stream()));
}

template <class X>
void ResidualMatrix::launch(const X* b, const X* x, double* wide, cudaStream_t stream) const {
  if (rows_ == 0) return;
  const auto launch_as = [&](auto zero) {
    using A = decltype(zero);
    if (is_dense_) {
      const dim3 grid(static_cast<unsigned>(rows_), static_cast<unsigned>(columns_));
      dense_residual<A, X>
          <<<grid, kBlockThreads, 0, stream>>>(square_.view<A>(), columns_, b, x, wide);
    } else {
      const unsigned grid = blocks_of(Offset{rows_} * columns_ * kLanes, kBlockThreads);
      sparse_residual<A, X>
          <<<grid, kBlockThreads, 0, stream>>>(sparse_.view<A>(), columns_, b, x, wide);
    }
  };
  kind_ == ValueKind::f32 ? launch_as(0.0f) : launch_as(0.0);
  CHECK_LAUNCH("residual", stream);
}

template <class T>
void launch_narrow(Index rows, Index columns, const double* from, const double* scales, T* to,
                   cudaStream_t stream) {
  const Offset size = Offset{rows} * columns;
  if (size == 0) return;
  narrow<T><<<blocks_of(size, kBlockThreads), kBlockThreads, 0, stream>>>(size, columns, from,
                                                                          scales, to);
  CHECK_LAUNCH("narrow", stream);
}

void launch_correct(Index rows, Index columns, const double* scales, const float* correction,
                    double* x, cudaStream_t stream) {
  const Offset size = Offset{rows} * columns;
  if (size == 0) return;
  correct<<<blocks_of(size, kBlockThreads), kBlockThreads, 0, stream>>>(size, columns, scales,
                                                                        correction, x);
  CHECK_LAUNCH("correct", stream);
}

template <class T>
void launch_squares(Index rows, Index columns, const T* vectors, double* sums,
                    cudaStream_t stream) {
  constexpr int kBlocks = kSquareSums - 1;
  static_assert(kBlocks <= kBlockThreads, "add_parts has a thread per block");
  double* const parts = sums + columns;
  squares<T><<<dim3(kBlocks, static_cast<unsigned>(columns)), kBlockThreads, 0, stream>>>(
      rows, columns, vectors, parts);
  CHECK_LAUNCH("squares", stream);
  add_parts<<<static_cast<unsigned>(columns), kBlockThreads, 0, stream>>>(parts, kBlocks, sums);
  CHECK_LAUNCH("add_parts", stream);
}

template void ResidualMatrix::launch(const float*, const float*, double*, cudaStream_t) const;
template void ResidualMatrix::launch(const double*, const double*, double*, cudaStream_t) const;
template void launch_narrow(Index, Index, const double*, const double*, float*, cudaStream_t);
template void launch_narrow(Index, Index, const double*, const double*, double*, cudaStream_t);
template void launch_squares(Index, Index, const float*, double*, cudaStream_t);
template void launch_squares(Index, Index, const double*, double*, cudaStream_t);

}  // namespace csrkit::gpu

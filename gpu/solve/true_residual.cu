#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/solve/true_residual.h"

namespace csrkit::gpu {

namespace {

constexpr int kBlockThreads = 256;
constexpr int kLanes = 8;  // of a row: fits the short rows of most systems

unsigned grid_for(Offset threads) {
  return static_cast<unsigned>((threads + kBlockThreads - 1) / kBlockThreads);
}

/// kLanes threads per row and column.
template <class A, class X>
__global__ void residual(DeviceCsrView<A> a, Index columns, const X* b, const X* x, double* wide) {
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

/// One block per column: made once per run of iterations, so its speed does not matter, and its
/// order never changes.
template <class T>
__global__ void squares(Index rows, Index columns, const T* vectors, double* sums) {
  __shared__ double part[kBlockThreads];
  double sum = 0;
  for (Offset row = threadIdx.x; row < rows; row += kBlockThreads) {
    const auto value = static_cast<double>(vectors[row * columns + blockIdx.x]);
    sum += value * value;
  }
  part[threadIdx.x] = sum;
  for (int half = kBlockThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

}  // namespace

ResidualMatrix::ResidualMatrix(const SolveProblem& problem, DeviceMemory& memory)
    : rows_(problem.rows()),
      columns_(problem.right_hand_sides),
      kind_(problem.a.value_kind()),
      sparse_(memory, problem.a) {
  CHECK_CUDA(cudaStreamSynchronize(memory.stream()));
}

template <class X>
void ResidualMatrix::launch(const X* b, const X* x, double* wide, cudaStream_t stream) const {
  if (rows_ == 0) return;
  const unsigned grid = grid_for(Offset{rows_} * columns_ * kLanes);
  if (kind_ == ValueKind::f32) {
    residual<float, X>
        <<<grid, kBlockThreads, 0, stream>>>(sparse_.view<float>(), columns_, b, x, wide);
  } else {
    residual<double, X>
        <<<grid, kBlockThreads, 0, stream>>>(sparse_.view<double>(), columns_, b, x, wide);
  }
  CHECK_LAUNCH("residual", stream);
}

template <class T>
void launch_narrow(Index rows, Index columns, const double* from, const double* scales, T* to,
                   cudaStream_t stream) {
  const Offset size = Offset{rows} * columns;
  if (size == 0) return;
  narrow<T><<<grid_for(size), kBlockThreads, 0, stream>>>(size, columns, from, scales, to);
  CHECK_LAUNCH("narrow", stream);
}

void launch_correct(Index rows, Index columns, const double* scales, const float* correction,
                    double* x, cudaStream_t stream) {
  const Offset size = Offset{rows} * columns;
  if (size == 0) return;
  correct<<<grid_for(size), kBlockThreads, 0, stream>>>(size, columns, scales, correction, x);
  CHECK_LAUNCH("correct", stream);
}

template <class T>
void launch_squares(Index rows, Index columns, const T* vectors, double* sums,
                    cudaStream_t stream) {
  squares<T>
      <<<static_cast<unsigned>(columns), kBlockThreads, 0, stream>>>(rows, columns, vectors, sums);
  CHECK_LAUNCH("squares", stream);
}

template void ResidualMatrix::launch(const float*, const float*, double*, cudaStream_t) const;
template void ResidualMatrix::launch(const double*, const double*, double*, cudaStream_t) const;
template void launch_narrow(Index, Index, const double*, const double*, float*, cudaStream_t);
template void launch_narrow(Index, Index, const double*, const double*, double*, cudaStream_t);
template void launch_squares(Index, Index, const float*, double*, cudaStream_t);
template void launch_squares(Index, Index, const double*, double*, cudaStream_t);

}  // namespace csrkit::gpu

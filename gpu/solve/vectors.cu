// The passes over vectors. Grids are (blocks, columns): a block works on rows of one column.
#include "gpu/device/cuda_check.h"
#include "gpu/solve/vectors.cuh"

namespace csrkit::gpu {

namespace {

template <class T>
dim3 grid_of(const CgState<T>& state) {
  return dim3(static_cast<unsigned>(blocks_for(state.rows)), static_cast<unsigned>(state.columns));
}

/// Calls body(i, row) for this thread's elements of this block's column.
template <class T, class Body>
__device__ void for_each_element(const CgState<T>& state, const Body& body) {
  const Index step = static_cast<Index>(gridDim.x) * kThreads;
  const auto first = static_cast<Index>(blockIdx.x * kThreads + threadIdx.x);
  for (Offset row = first; row < state.rows; row += step) {
    body(row * state.columns + blockIdx.y, row);
  }
}

/// Calls use(load(i, row), i, row) for this thread's elements, in batches.
template <class T, class Load, class Use>
__device__ void for_each_loaded(const CgState<T>& state, const Load& load, const Use& use) {
  const auto place = [&](Offset row) { return row * state.columns + blockIdx.y; };
  for_each_batch<T, 4>(
      Offset{blockIdx.x} * kThreads + threadIdx.x, state.rows, Offset{gridDim.x} * kThreads,
      [&](Offset row) { return load(place(row), row); },
      [&](const Loaded<T>& at, Offset row) { use(at, place(row), row); });
}

__device__ inline double product_of(double a, double b) { return a * b; }

template <class T>
__global__ void dot(CgState<T> state, const T* a, const T* b, int which, Summation how) {
  double sum = 0;
  for_each_element(state, [&](Offset i, Offset) { sum += product_of(a[i], b[i]); });
  const TwoSums sums = sum_over_block({sum, 0});
  if (threadIdx.x > 0) return;
  double* const to = state.partials + (Offset{blockIdx.y} * kPartialSums + which) * kSumBlocks;
  if (how == Summation::atomic) {
    atomicAdd(to, sums.first);
  } else {
    to[blockIdx.x] = sums.first;
  }
}

template <class T>
__global__ void finish_sums(CgState<T> state, int blocks, double* to) {
  const TwoSums sums = sum_partials(state, static_cast<Index>(blockIdx.x), blocks);
  if (threadIdx.x == 0) {
    to[2 * blockIdx.x] = sums.first;
    to[2 * blockIdx.x + 1] = sums.second;
  }
}

template <class T>
__global__ void finish(CgState<T> state, int blocks, After after) {
  const auto column = static_cast<Index>(blockIdx.x);
  const TwoSums sums = sum_partials(state, column, blocks);
  if (threadIdx.x == 0) {
    decide(state, column, after, sums);
    store_partial(state, column, 0, {});  // atomic sums start at 0 again
  }
}

template <class T>
__global__ void add_to_residual(CgState<T> state) {
  const CgColumn& column = state.column[blockIdx.y];
  if (column.state != ColumnState::iterating) return;
  const T alpha = static_cast<T>(column.alpha);
  for_each_element(state, [&](Offset i, Offset) { state.r[i] -= alpha * state.q[i]; });
}

template <class T>
__global__ void scale_residual(CgState<T> state) {
  if (!state.column[blockIdx.y].moves()) return;
  for_each_element(
      state, [&](Offset i, Offset row) { state.z[i] = state.inverse_diagonal[row] * state.r[i]; });
}

template <class T>
__global__ void add_to_solution(CgState<T> state) {
  const CgColumn column = state.column[blockIdx.y];
  if (!column.moves()) return;
  const T alpha = static_cast<T>(column.alpha);
  for_each_element(state, [&](Offset i, Offset) {
    const T before = state.x[i];
    if (column.keeps) state.best[i] = before;
    state.x[i] = before + alpha * state.p[i];
  });
}

template <class T>
__global__ void new_directions(CgState<T> state) {
  const CgColumn column = state.column[blockIdx.y];
  if (!column.moves()) return;
  const T beta = static_cast<T>(column.beta);
  for_each_element(state, [&](Offset i, Offset) { state.p[i] = state.z[i] + beta * state.p[i]; });
}

/// Ends a pass: the last block of a column adds up the sums of all its blocks.
template <class T>
__device__ void finish_in_last_block(const CgState<T>& state, After after, const TwoSums& mine) {
  const auto column = static_cast<Index>(blockIdx.y);
  const TwoSums sums = sum_over_block(mine);
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    store_partial(state, column, static_cast<int>(blockIdx.x), sums);
    __threadfence();  // write the sums before counting this block as done
    is_last = atomicInc(state.done_blocks + column, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  const TwoSums totals = sum_partials(state, column, static_cast<int>(gridDim.x));
  if (threadIdx.x == 0) decide(state, column, after, totals);
}

template <class T>
__global__ void fused_product(CgState<T> state) {
  TwoSums sums;
  if (state.column[blockIdx.y].moves()) {
    for_each_loaded(
        state,
        [&](Offset i, Offset) {
          return Loaded<T>{state.p[i], state.q[i], T{0}};
        },
        [&](const Loaded<T>& at, Offset, Offset) { sums.first += product_of(at.a, at.b); });
  }
  finish_in_last_block(state, After::product, sums);
}

template <class T>
__global__ void fused_residual(CgState<T> state) {
  const CgColumn& column = state.column[blockIdx.y];
  const bool iterates = column.state == ColumnState::iterating;
  const bool has_diagonal = state.inverse_diagonal != nullptr;
  const T alpha = static_cast<T>(column.alpha);
  TwoSums sums;
  if (iterates) {
    for_each_loaded(
        state,
        [&](Offset i, Offset row) {
          const T scale = has_diagonal ? state.inverse_diagonal[row] : T{0};
          return Loaded<T>{state.r[i], state.q[i], scale};
        },
        [&](const Loaded<T>& at, Offset i, Offset) {
          const T r = at.a - alpha * at.b;
          state.r[i] = r;
          sums.first += product_of(r, r);
          if (!has_diagonal) return;
          const T z = at.c * r;
          state.z[i] = z;
          sums.second += product_of(r, z);
        });
  }
  finish_in_last_block(state, After::residual, sums);
}

template <class T>
__global__ void fused_sums(CgState<T> state, After after) {
  TwoSums sums;
  for_each_element(state, [&](Offset i, Offset) {
    sums.first += product_of(state.r[i], state.r[i]);
    sums.second += product_of(state.r[i], state.z[i]);
  });
  finish_in_last_block(state, after, sums);
}

template <class T>
__global__ void fused_directions(CgState<T> state) {
  const CgColumn column = state.column[blockIdx.y];
  if (!column.moves()) return;
  const T alpha = static_cast<T>(column.alpha), beta = static_cast<T>(column.beta);
  for_each_loaded(
      state,
      [&](Offset i, Offset) {
        return Loaded<T>{state.x[i], state.p[i], state.z[i]};
      },
      [&](const Loaded<T>& at, Offset i, Offset) {
        if (column.keeps) state.best[i] = at.a;
        state.x[i] = at.a + alpha * at.b;
        state.p[i] = at.c + beta * at.b;
      });
}

template <class T>
__global__ void restore_best(CgState<T> state) {
  const CgColumn& column = state.column[blockIdx.y];
  if (column.norm <= column.best_norm) return;
  for_each_element(state, [&](Offset i, Offset) { state.x[i] = state.best[i]; });
}

}  // namespace

template <class T>
void launch_dot(const CgState<T>& state, const T* a, const T* b, int which, Summation how,
                cudaStream_t stream) {
  dot<T><<<grid_of(state), kThreads, 0, stream>>>(state, a, b, which, how);
  CHECK_LAUNCH("dot", stream);
}

template <class T>
void launch_finish_sums(const CgState<T>& state, double* sums, cudaStream_t stream) {
  finish_sums<T><<<static_cast<unsigned>(state.columns), kThreads, 0, stream>>>(
      state, blocks_for(state.rows), sums);
  CHECK_LAUNCH("finish_sums", stream);
}

template <class T>
void launch_finish(const CgState<T>& state, After after, Summation how, cudaStream_t stream) {
  const int blocks = how == Summation::atomic ? 1 : blocks_for(state.rows);
  finish<T><<<static_cast<unsigned>(state.columns), kThreads, 0, stream>>>(state, blocks, after);
  CHECK_LAUNCH("finish", stream);
}

template <class T>
void launch_fused_sums(const CgState<T>& state, After after, cudaStream_t stream) {
  fused_sums<T><<<grid_of(state), kThreads, 0, stream>>>(state, after);
  CHECK_LAUNCH("fused_sums", stream);
}

#define CSRKIT_PASS(launch, kernel)                            \
  template <class T>                                           \
  void launch(const CgState<T>& state, cudaStream_t stream) {  \
    kernel<T><<<grid_of(state), kThreads, 0, stream>>>(state); \
    CHECK_LAUNCH(#kernel, stream);                             \
  }                                                            \
  template void launch(const CgState<float>&, cudaStream_t);   \
  template void launch(const CgState<double>&, cudaStream_t);
CSRKIT_PASS(launch_add_to_residual, add_to_residual)
CSRKIT_PASS(launch_scale_residual, scale_residual)
CSRKIT_PASS(launch_add_to_solution, add_to_solution)
CSRKIT_PASS(launch_new_directions, new_directions)
CSRKIT_PASS(launch_fused_product, fused_product)
CSRKIT_PASS(launch_fused_residual, fused_residual)
CSRKIT_PASS(launch_fused_directions, fused_directions)
CSRKIT_PASS(launch_restore_best, restore_best)
#undef CSRKIT_PASS

#define CSRKIT_INSTANTIATE(T)                                                                    \
  template void launch_dot(const CgState<T>&, const T*, const T*, int, Summation, cudaStream_t); \
  template void launch_finish_sums(const CgState<T>&, double*, cudaStream_t);                    \
  template void launch_finish(const CgState<T>&, After, Summation, cudaStream_t);                \
  template void launch_fused_sums(const CgState<T>&, After, cudaStream_t);
CSRKIT_INSTANTIATE(float)
CSRKIT_INSTANTIATE(double)
#undef CSRKIT_INSTANTIATE

}  // namespace csrkit::gpu

// one_pass: all that lies between two products as one cooperative kernel.
//   Owns:    a block has neighbouring rows, and q, later r, of most of them in shared memory.
//   Reads:   p, q, r, then p and x; writes r, p, x: 8 vectors an iteration. The three passes of
//            fused move 10 of them: q waits for p'q in shared memory, r for r'r.
//   Syncs:   two barriers of the grid, where fused has the ends of launches.
//   Against: fused; the product is whoever's it was.
#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/solve/one_pass.h"
#include "gpu/solve/persistent.cuh"

namespace csrkit::gpu {

namespace {

constexpr Index kLeastRows = 128;  // of a block: fewer would wait for others, not work

template <class T>
__global__ void __launch_bounds__(kPersistentThreads)
    between_products(CgState<T> state, Index own_rows, Index held_rows) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T* const held = reinterpret_cast<T*>(shared_bytes);  // q of the first rows, then r
  CgColumn& column = shared_column();
  const Offset first = Offset{blockIdx.x} * own_rows;
  const Offset end = min(first + own_rows, Offset{state.rows}), held_end = first + held_rows;
  if (threadIdx.x == 0) column = state.column[0];
  __syncthreads();
  if (!column.moves()) return;  // so says every block
  const Index made = state.iteration[0];
  const auto preconditioned = [&](Offset i, T r) {
    return state.inverse_diagonal == nullptr ? r : state.inverse_diagonal[i] * r;
  };
  const auto for_own_rows = [&](const auto& load, const auto& use) {
    for_each_batch<T>(first + threadIdx.x, end, kPersistentThreads, load, use);
  };

  TwoSums curvature;
  for_own_rows(
      [&](Offset i) {
        return Loaded<T>{state.p[i], state.q[i], T{0}};
      },
      [&](const Loaded<T>& at, Offset i) {
        curvature.first += static_cast<double>(at.a) * static_cast<double>(at.b);
        if (i < held_end) held[i - first] = at.b;
      });
  with_grid_sums(curvature, state.partials,
                 [&](const TwoSums& sums) { column.after_product(sums.first); });
  if (!column.moves()) return leave_column(state, column);

  const T alpha = static_cast<T>(column.alpha);
  TwoSums squares;
  for_own_rows(
      [&](Offset i) {
        return Loaded<T>{state.r[i], i < held_end ? held[i - first] : state.q[i], T{0}};
      },
      [&](const Loaded<T>& at, Offset i) {
        const T r = at.a - alpha * at.b;
        state.r[i] = r;
        if (i < held_end) held[i - first] = r;
        squares.first += static_cast<double>(r) * static_cast<double>(r);
        squares.second += static_cast<double>(r) * static_cast<double>(preconditioned(i, r));
      });
  with_grid_sums(squares, state.partials + 2 * kSumBlocks, [&](const TwoSums& sums) {
    decide_after_residual(state, made, sums, &column);
    if (blockIdx.x == 0) state.iteration[0] = made + 1;
  });
  if (!column.moves()) return leave_column(state, column);

  const T step = static_cast<T>(column.alpha), beta = static_cast<T>(column.beta);
  for_own_rows(
      [&](Offset i) {
        return Loaded<T>{state.x[i], state.p[i], i < held_end ? held[i - first] : state.r[i]};
      },
      [&](const Loaded<T>& at, Offset i) {
        if (column.keeps) state.best[i] = at.a;
        state.x[i] = at.a + step * at.b;
        state.p[i] = preconditioned(i, at.c) + beta * at.b;
      });
  leave_column(state, column);
}

}  // namespace

template <class T>
OnePass<T>::OnePass(Index rows, int device) {
  const PersistentLimits limits = limits_of(between_products<T>, device);
  blocks_ = std::max(1, std::min(limits.blocks, rows / kLeastRows));
  own_rows_ = (rows + blocks_ - 1) / blocks_;
  held_rows_ = std::min(own_rows_, static_cast<Index>(limits.shared_bytes / Offset{sizeof(T)}));
}

template <class T>
void OnePass<T>::launch(const CgState<T>& state, cudaStream_t stream) const {
  CgState<T> given = state;
  Index own_rows = own_rows_, held_rows = held_rows_;
  void* arguments[] = {&given, &own_rows, &held_rows};
  CHECK_CUDA(cudaLaunchCooperativeKernel(between_products<T>, dim3(static_cast<unsigned>(blocks_)),
                                         dim3(kPersistentThreads), arguments,
                                         static_cast<std::size_t>(held_rows_) * sizeof(T), stream));
}

template class OnePass<float>;
template class OnePass<double>;

}  // namespace csrkit::gpu

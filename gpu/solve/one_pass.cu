// one_pass: all work between two products as one cooperative kernel.
// Owns     a block has neighbouring rows. For as many of them as fit, shared memory holds q (later
//          r); what room is left holds p
// Reads    p, q, r, then p and x; writes r, p, x: 8 vectors an iteration, 7 where p is held. The
//          three passes of fused move 10: here q is kept in shared memory until p'q is known, and r
//          until r'r is
// Launch   two barriers of the grid, where fused ends a launch
// Against  fused, with the same product
#include "gpu/solve/one_pass.h"
#include "gpu/solve/persistent.cuh"

namespace csrkit::gpu {

namespace {

constexpr Index kLeastRows = 128;  // of a block: with fewer it would wait more than work

template <class T>
__global__ void __launch_bounds__(kPersistentThreads)
    between_products(CgState<T> state, OnePassShares shares) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T* const held_q = reinterpret_cast<T*>(shared_bytes);  // of a block's first rows; later r
  T* const held_p = held_q + shares.q_rows;
  CgColumn& column = shared_column();
  const Offset first = Offset{blockIdx.x} * shares.own_rows;
  const Offset end = min(first + shares.own_rows, Offset{state.rows});
  const Offset q_end = first + shares.q_rows, p_end = first + shares.p_rows;
  if (threadIdx.x == 0) column = state.column[0];
  __syncthreads();
  if (!column.moves()) return;  // every block decides the same
  const Index made = state.iteration[0];
  const auto preconditioned = [&](Offset i, T r) {
    return state.inverse_diagonal == nullptr ? r : state.inverse_diagonal[i] * r;
  };
  const auto for_own_rows = [&](const auto& load, const auto& use) {
    constexpr int kBatch = 32 / sizeof(T);  // twice as many do not fit into registers
    for_each_batch<T, kBatch>(first + threadIdx.x, end, kPersistentThreads, load, use);
  };

  TwoSums curvature;
  for_own_rows(
      [&](Offset i) {
        return Loaded<T>{state.p[i], state.q[i]};
      },
      [&](const Loaded<T>& at, Offset i) {
        curvature.first += static_cast<double>(at.a) * static_cast<double>(at.b);
        if (i < q_end) held_q[i - first] = at.b;
        if (i < p_end) held_p[i - first] = at.a;
      });
  with_grid_sums(curvature, state, 0,
                 [&](const TwoSums& sums) { column.after_product(sums.first); });
  if (!column.moves()) return leave_column(state, column);

  const T alpha = static_cast<T>(column.alpha);
  TwoSums squares;
  for_own_rows([&](Offset i) { return Loaded<T>{state.r[i]}; },
               [&](const Loaded<T>& at, Offset i) {
                 const T q = i < q_end ? held_q[i - first] : state.q[i];
                 const T r = at.a - alpha * q;
                 state.r[i] = r;
                 if (i < q_end) held_q[i - first] = r;
                 const T z = preconditioned(i, r);
                 squares.first += static_cast<double>(r) * static_cast<double>(r);
                 squares.second += static_cast<double>(r) * static_cast<double>(z);
               });
  with_grid_sums(squares, state, 2, [&](const TwoSums& sums) {
    decide_after_residual(state, made, sums, &column);
    if (blockIdx.x == 0) state.iteration[0] = made + 1;
  });
  if (!column.moves()) return leave_column(state, column);

  const T beta = static_cast<T>(column.beta);
  for_own_rows(
      [&](Offset i) {
        return Loaded<T>{state.x[i], i < p_end ? held_p[i - first] : state.p[i]};
      },
      [&](const Loaded<T>& at, Offset i) {
        const T r = i < q_end ? held_q[i - first] : state.r[i];
        if (column.keeps) state.best[i] = at.a;
        state.x[i] = at.a + alpha * at.b;
        state.p[i] = preconditioned(i, r) + beta * at.b;
      });
  leave_column(state, column);
}

}  // namespace

template <class T>
OnePass<T>::OnePass(Index rows, int device) {
  const PersistentLimits limits = limits_of(between_products<T>, device);
  blocks_ = std::max(1, std::min(limits.blocks, rows / kLeastRows));
  const auto own = static_cast<Index>((Offset{rows} + blocks_ - 1) / blocks_);
  const auto places = static_cast<Index>(limits.shared_bytes / Offset{sizeof(T)});
  shares_.own_rows = own;
  shares_.q_rows = std::min(own, places);
  shares_.p_rows = std::min(own, places - shares_.q_rows);
}

template <class T>
void OnePass<T>::launch(const CgState<T>& state, cudaStream_t stream) const {
  CgState<T> given = state;
  OnePassShares shares = shares_;
  void* arguments[] = {&given, &shares};
  const auto places = static_cast<std::size_t>(shares_.q_rows + shares_.p_rows);
  CHECK_CUDA(cudaLaunchCooperativeKernel(between_products<T>, dim3(static_cast<unsigned>(blocks_)),
                                         dim3(kPersistentThreads), arguments, places * sizeof(T),
                                         stream));
}

template class OnePass<float>;
template class OnePass<double>;

}  // namespace csrkit::gpu

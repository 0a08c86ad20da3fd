// persistent, dense: the whole loop as one cooperative kernel.
// Owns     a block has neighbouring rows of A (in shared memory where they fit) and of x. Every
//          block has all of p, q and r in its shared memory
// Reads    A once per iteration, from shared memory or L2; q of the other blocks, from L2
// Launch   one barrier of the grid per iteration, after which every block reads q. All later work
//          costs less than another barrier, so every block does all of it, in the same order: sums,
//          scalars and vectors have the same bits in every block and are never exchanged
// Against  fused with half, whose launches cost more than their work where A is small
#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/solve/persistent.cuh"
#include "gpu/solve/persistent.h"

namespace csrkit::gpu {

namespace {

constexpr int kWarps = kPersistentThreads / kWarpLanes;

/// Positions in a block's shared memory, in elements.
struct SharedPlaces {
  Offset a, p, q, r, x, parts, size;
};

/// For `own` rows a block, with or without their part of A.
CSRKIT_HOST_DEVICE SharedPlaces places_of(Offset pitch, Offset own, bool holds_a) {
  SharedPlaces at{};
  at.a = 0;
  at.p = holds_a ? own * pitch : 0;
  at.q = at.p + pitch;
  at.r = at.q + pitch;
  at.x = at.r + pitch;
  at.parts = at.x + own;
  at.size = at.parts + own + kWarps;
  return at;
}

/// Writes A p of the block's rows to `q`. Where there are fewer rows than warps, several warps
/// share a row.
template <class T>
__device__ void multiply_own_rows(const T* a, Offset pitch, Index own, const T* p, T* parts, T* q) {
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int pieces = own >= kWarps ? 1 : kWarps / own;
  const Offset chunks = pitch / kSquareTile;
  for (int task = warp; task < own * pieces; task += kWarps) {
    const int row = task / pieces, piece = task % pieces;
    const Offset end = chunks * (piece + 1) / pieces * kSquareTile;
    T sum = 0;
#pragma unroll 8
    for (Offset col = chunks * piece / pieces * kSquareTile + lane; col < end; col += kWarpLanes) {
      sum += a[row * pitch + col] * p[col];
    }
    for (int offset = kWarpLanes / 2; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(kAllLanes, sum, offset);
    }
    if (lane == 0) parts[task] = sum;
  }
  __syncthreads();
  for (int row = static_cast<int>(threadIdx.x); row < own; row += kPersistentThreads) {
    T sum = 0;
    for (int piece = 0; piece < pieces; ++piece) sum += parts[row * pieces + piece];
    q[row] = sum;
  }
}

/// `products` has room for two vectors: a faster block writes its part of the next q while others
/// still read this one.
template <class T>
__global__ void __launch_bounds__(kPersistentThreads)
    persistent_dense(CgState<T> state, SquareView<T> a, T* products, Index most_own, bool holds_a,
                     Index iterations) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  CgColumn& column = shared_column();
  T* const shared = reinterpret_cast<T*>(shared_bytes);
  const SharedPlaces at = places_of(a.pitch, most_own, holds_a);
  T *const p = shared + at.p, *const q = shared + at.q, *const r = shared + at.r;
  T* const x = shared + at.x;

  const auto thread = static_cast<Index>(threadIdx.x);
  const auto first = static_cast<Index>(Offset{a.rows} * blockIdx.x / gridDim.x);
  const auto own = static_cast<Index>(Offset{a.rows} * (blockIdx.x + 1) / gridDim.x) - first;
  const T* rows_of_a = a.data + first * a.pitch;
  if (holds_a) {
    for (Offset i = thread; i < own * a.pitch; i += kPersistentThreads) shared[i] = rows_of_a[i];
    rows_of_a = shared;
  }
  for (Offset i = thread; i < a.pitch; i += kPersistentThreads) {
    p[i] = i < a.rows ? state.p[i] : T{0};
    r[i] = i < a.rows ? state.r[i] : T{0};
  }
  for (Index i = thread; i < own; i += kPersistentThreads) x[i] = state.x[first + i];
  if (thread == 0) column = state.column[0];
  __syncthreads();
  const auto preconditioned = [&](Index i) {
    return state.inverse_diagonal == nullptr ? r[i] : state.inverse_diagonal[i] * r[i];
  };
  // In every block: row i always belongs to the same thread.
  const auto for_all_rows = [&](const auto& body) {
    for (Index i = thread; i < a.rows; i += kPersistentThreads) body(i);
  };

  Index made = 0;
  while (made < iterations && column.moves()) {
    T* const all_q = products + made % 2 * a.pitch;
    multiply_own_rows(rows_of_a, a.pitch, own, p, shared + at.parts, all_q + first);
    __syncthreads();
    if (thread == 0) wait_for_grid(state.barrier);
    __syncthreads();

    TwoSums curvature;
    for_all_rows([&](Index i) {
      q[i] = __ldcg(all_q + i);
      curvature.first += static_cast<double>(q[i]) * static_cast<double>(p[i]);
    });
    with_block_sums(curvature, [&](const TwoSums& sums) { column.after_product(sums.first); });
    if (!column.moves()) break;

    const T alpha = static_cast<T>(column.alpha);
    TwoSums squares;
    for_all_rows([&](Index i) {
      r[i] -= alpha * q[i];
      squares.first += static_cast<double>(r[i]) * static_cast<double>(r[i]);
      squares.second += static_cast<double>(r[i]) * static_cast<double>(preconditioned(i));
    });
    with_block_sums(
        squares, [&](const TwoSums& sums) { decide_after_residual(state, made, sums, &column); });
    if (!column.moves()) break;

    const T beta = static_cast<T>(column.beta);
    for_all_rows([&](Index i) {
      if (i >= first && i < first + own) {
        if (column.keeps) state.best[i] = x[i - first];
        x[i - first] += alpha * p[i];
      }
      p[i] = preconditioned(i) + beta * p[i];
    });
    ++made;
    if (column.state == ColumnState::last_step) break;
    __syncthreads();
  }
  __syncthreads();  // other threads wrote x, p and r
  for (Index i = thread; i < own; i += kPersistentThreads) {
    state.x[first + i] = x[i];
    state.p[first + i] = p[first + i];
    state.r[first + i] = r[first + i];
  }
  leave_column(state, column);
}

template <class T>
class DenseLoop : public PersistentLoop<T> {
 public:
  DenseLoop(const SquareView<T>& a, DeviceMemory& memory)
      : a_(a), products_(memory, 2 * a.pitch, "products of the persistent kernel") {
    const PersistentLimits limits = limits_of(persistent_dense<T>, memory.device());
    blocks_ = std::max(1, std::min(limits.blocks, a.rows / kLeastRows));
    own_ = (a.rows + blocks_ - 1) / blocks_;
    const Offset room = limits.shared_bytes;
    holds_a_ = bytes_of(true) <= room;
    if (bytes_of(holds_a_) > room) {
      throw UsageError("persistent holds three vectors in the shared memory of a multiprocessor, " +
                       std::to_string(room) + " bytes, and this system has " +
                       std::to_string(a.rows) + " rows; use fused");
    }
  }

  void launch(const CgState<T>& state, Index iterations, cudaStream_t stream) override {
    CgState<T> given = state;
    T* products = products_.data();
    void* arguments[] = {&given, &a_, &products, &own_, &holds_a_, &iterations};
    CHECK_CUDA(cudaLaunchCooperativeKernel(
        persistent_dense<T>, dim3(static_cast<unsigned>(blocks_)), dim3(kPersistentThreads),
        arguments, static_cast<std::size_t>(bytes_of(holds_a_)), stream));
  }

 private:
  static constexpr Index kLeastRows = 4;  // of a block: with fewer it would wait more than work

  Offset bytes_of(bool holds_a) const {
    return places_of(a_.pitch, own_, holds_a).size * static_cast<Offset>(sizeof(T));
  }

  SquareView<T> a_;
  DeviceBuffer<T> products_;
  Index blocks_ = 1, own_ = 0;
  bool holds_a_ = false;
};

}  // namespace

template <class T>
std::unique_ptr<PersistentLoop<T>> make_dense_loop(const SquareView<T>& a, DeviceMemory& memory) {
  return std::make_unique<DenseLoop<T>>(a, memory);
}
template std::unique_ptr<PersistentLoop<float>> make_dense_loop(const SquareView<float>&,
                                                                DeviceMemory&);
template std::unique_ptr<PersistentLoop<double>> make_dense_loop(const SquareView<double>&,
                                                                 DeviceMemory&);

}  // namespace csrkit::gpu

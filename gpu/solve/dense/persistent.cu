// persistent, dense: the whole loop as one cooperative kernel.
//   Owns:    a block has neighbouring rows of A (in shared memory, where they fit), of x, r and q;
//            and all of p, in shared memory, as every other block has.
//   Reads:   A once per iteration, from shared memory or L2; r of the other blocks, from L2.
//   Syncs:   two barriers of the grid per iteration. After the second everybody has r and makes
//            all of p alone, so that p never travels.
//   Against: fused with half, whose launches cost more than their work where A is small.
#include <cooperative_groups.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/solve/persistent.cuh"
#include "gpu/solve/persistent.h"

namespace csrkit::gpu {

namespace {

constexpr int kWarps = kPersistentThreads / kWarpLanes;

/// Where things are in a block's shared memory, in numbers from its start.
struct SharedPlaces {
  Offset p, x, r, q, parts, a, size;
};

/// `own` rows a block, with their part of A or without it.
CSRKIT_BOTH SharedPlaces places_of(Offset pitch, Offset own, bool holds_a) {
  SharedPlaces at{};
  at.a = 0;
  at.p = holds_a ? own * pitch : 0;
  at.x = at.p + pitch;
  at.r = at.x + own;
  at.q = at.r + own;
  at.parts = at.q + own;
  at.size = at.parts + own + kWarps;
  return at;
}

/// q of the block's rows. Each row is cut into as many pieces as there are warps for it.
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
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(kPersistentThreads)
    persistent_dense(CgState<T> state, SquareView<T> a, Index most_own, bool holds_a,
                     Index iterations) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ alignas(CgColumn) unsigned char column_bytes[sizeof(CgColumn)];
  CgColumn& column = *reinterpret_cast<CgColumn*>(column_bytes);
  T* const shared = reinterpret_cast<T*>(shared_bytes);
  const SharedPlaces at = places_of(a.pitch, most_own, holds_a);
  T *const p = shared + at.p, *const x = shared + at.x, *const r = shared + at.r;
  T* const q = shared + at.q;

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
  }
  for (Index i = thread; i < own; i += kPersistentThreads) {
    x[i] = state.x[first + i];
    r[i] = state.r[first + i];
  }
  if (thread == 0) column = state.column[0];
  __syncthreads();
  const auto preconditioned = [&](Index row, T residual) {
    return state.inverse_diagonal == nullptr ? residual : state.inverse_diagonal[row] * residual;
  };

  Index made = 0;
  while (made < iterations && column.moves()) {
    // q = A p, p'q
    multiply_own_rows(rows_of_a, a.pitch, own, p, shared + at.parts, q);
    TwoSums product;
    for (Index i = thread; i < own; i += kPersistentThreads) {
      product.first += static_cast<double>(q[i]) * static_cast<double>(p[first + i]);
    }
    product = sum_over_block<kPersistentThreads>(product);
    if (thread == 0) state.partials[2 * kSumBlocks + blockIdx.x] = product.first;
    grid.sync();
    decide_after_product(state, &column);
    if (!column.moves()) break;

    // r -= alpha q, r'r, r'z
    const T alpha = static_cast<T>(column.alpha);
    TwoSums sums;
    for (Index i = thread; i < own; i += kPersistentThreads) {
      r[i] -= alpha * q[i];
      state.r[first + i] = r[i];
      const T z = preconditioned(first + i, r[i]);
      sums.first += static_cast<double>(r[i]) * static_cast<double>(r[i]);
      sums.second += static_cast<double>(r[i]) * static_cast<double>(z);
    }
    sums = sum_over_block<kPersistentThreads>(sums);
    if (thread == 0) store_partial(state, 0, static_cast<int>(blockIdx.x), sums);
    grid.sync();
    decide_after_residual(state, made, &column);
    if (!column.moves()) break;

    // x += alpha p, p = z + beta p: of all rows, for the next product
    const T beta = static_cast<T>(column.beta);
    for (Index i = thread; i < own; i += kPersistentThreads) {
      if (column.keeps) state.best[first + i] = x[i];
      x[i] += alpha * p[first + i];
    }
    ++made;
    if (column.state == ColumnState::last_step) break;
    __syncthreads();  // p of before is read
    for (Index i = thread; i < a.rows; i += kPersistentThreads) {
      p[i] = preconditioned(i, __ldcg(state.r + i)) + beta * p[i];
    }
    __syncthreads();
  }
  for (Index i = thread; i < own; i += kPersistentThreads) {
    state.x[first + i] = x[i];
    state.p[first + i] = p[first + i];
  }
  if (blockIdx.x == 0 && thread == 0) {
    state.column[0] = column;
    if (column.state == ColumnState::last_step) state.column[0].state = ColumnState::idle;
  }
}

template <class T>
class DenseLoop : public PersistentLoop<T> {
 public:
  DenseLoop(const SquareView<T>& a, DeviceMemory& memory) : a_(a) {
    const int device = memory.device();
    int multiprocessors = 0, shared_bytes = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CHECK_CUDA(
        cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const Index most_blocks = std::min(multiprocessors, kSumBlocks);
    blocks_ = std::max(1, std::min(most_blocks, a.rows / kLeastRows));
    own_ = (a.rows + blocks_ - 1) / blocks_;
    cudaFuncAttributes attributes{};
    CHECK_CUDA(cudaFuncGetAttributes(&attributes, persistent_dense<T>));
    const Offset room = shared_bytes - static_cast<Offset>(attributes.sharedSizeBytes);
    holds_a_ = bytes_of(true) <= room;
    if (bytes_of(holds_a_) > room) {
      throw UsageError("persistent holds a vector in the shared memory of a multiprocessor, " +
                       std::to_string(room) + " bytes, and this system has " +
                       std::to_string(a.rows) + " rows; use fused");
    }
    CHECK_CUDA(cudaFuncSetAttribute(
        persistent_dense<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(room)));
  }

  void launch(const CgState<T>& state, Index iterations, cudaStream_t stream) override {
    CgState<T> given = state;
    void* arguments[] = {&given, &a_, &own_, &holds_a_, &iterations};
    CHECK_CUDA(cudaLaunchCooperativeKernel(
        persistent_dense<T>, dim3(static_cast<unsigned>(blocks_)), dim3(kPersistentThreads),
        arguments, static_cast<std::size_t>(bytes_of(holds_a_)), stream));
  }

 private:
  static constexpr Index kLeastRows = 4;  // of a block: fewer would wait for others, not work

  Offset bytes_of(bool holds_a) const {
    return places_of(a_.pitch, own_, holds_a).size * static_cast<Offset>(sizeof(T));
  }

  SquareView<T> a_;
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

// persistent: the whole loop as one cooperative kernel.
//   Owns:    x and r of a thread's rows in registers, for the whole launch; p and q in L2.
//   Reads:   A once per iteration, from L2 where it fits.
//   Syncs:   three barriers of the grid per iteration; every block adds the partial sums up itself,
//            all in the same order, so that no scalar has to travel.
//   Against: fused, whose launches cost more than its work where systems are small.
#include <cooperative_groups.h>

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/solve/iterations.h"
#include "gpu/solve/vectors.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kMostOwned = 8;  // rows of a thread: 32 registers for x and r in f64
constexpr int kLanes = 4;      // threads of a row in the product: short rows are the rule

/// One block per multiprocessor: a barrier of the grid costs by the number of blocks, and so do
/// sums that every block makes of all blocks' sums.
constexpr int kBlock = 1024;

/// The sums of the blocks' partial numbers `which` and the next one, by every block.
__device__ TwoSums sums_of_blocks(const double* partials, int which, bool with_next) {
  TwoSums mine;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += kBlock) {
    mine.first += __ldcg(partials + which * kSumBlocks + block);
    if (with_next) mine.second += __ldcg(partials + (which + 1) * kSumBlocks + block);
  }
  return sum_over_block<kBlock>(mine);
}

template <class T, int kOwned>
__global__ void __launch_bounds__(kBlock)
    persistent(CgState<T> state, DeviceCsrView<T> a, Index iterations) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  // A shared variable may not have a constructor.
  __shared__ alignas(CgColumn) unsigned char column_bytes[sizeof(CgColumn)];
  CgColumn& column = *reinterpret_cast<CgColumn*>(column_bytes);
  if (threadIdx.x == 0) column = state.column[0];
  __syncthreads();

  const auto threads = static_cast<Index>(gridDim.x * kBlock);
  const auto thread = static_cast<Index>(blockIdx.x * kBlock + threadIdx.x);
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  T x[kOwned], r[kOwned];
#pragma unroll
  for (int k = 0; k < kOwned; ++k) {
    const Offset row = thread + Offset{k} * threads;
    x[k] = row < state.rows ? state.x[row] : T{0};
    r[k] = row < state.rows ? state.r[row] : T{0};
  }
  Index made = 0;
  while (made < iterations && column.moves()) {
    // q = A p, p'q
    double pq = 0;
    const Offset row_end = (Offset{state.rows} + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
    for (Offset row = thread / kLanes; row < row_end; row += threads / kLanes) {
      T sum = 0;
      if (row < state.rows) {
        const Offset end = a.row_end(static_cast<Index>(row));
        for (Offset at = a.row_begin(static_cast<Index>(row)) + lane; at < end; at += kLanes) {
          const T value = a.values == nullptr ? T{1} : __ldg(a.values + at);
          sum += value * __ldcg(state.p + __ldg(a.col_indices + at));
        }
      }
      for (int offset = kLanes / 2; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(lanes_of_group<kLanes>(), sum, offset);
      }
      if (row < state.rows && lane == 0) {
        state.q[row] = sum;
        pq += static_cast<double>(sum) * static_cast<double>(__ldcg(state.p + row));
      }
    }
    const TwoSums product = sum_over_block<kBlock>({pq, 0});
    if (threadIdx.x == 0) state.partials[2 * kSumBlocks + blockIdx.x] = product.first;
    grid.sync();
    const double curvature = sums_of_blocks(state.partials, 2, false).first;
    if (threadIdx.x == 0) column.after_product(curvature);
    __syncthreads();
    if (!column.moves()) break;

    // r -= alpha q, r'r, r'z
    const T alpha = static_cast<T>(column.alpha);
    TwoSums sums;
#pragma unroll
    for (int k = 0; k < kOwned; ++k) {
      const Offset row = thread + Offset{k} * threads;
      if (row >= state.rows) continue;
      r[k] -= alpha * __ldcg(state.q + row);
      const T z = state.inverse_diagonal == nullptr ? r[k] : state.inverse_diagonal[row] * r[k];
      sums.first += static_cast<double>(r[k]) * static_cast<double>(r[k]);
      sums.second += static_cast<double>(r[k]) * static_cast<double>(z);
    }
    const TwoSums block_sums = sum_over_block<kBlock>(sums);
    if (threadIdx.x == 0) store_partial(state, 0, static_cast<int>(blockIdx.x), block_sums);
    grid.sync();
    const TwoSums totals = sums_of_blocks(state.partials, 0, true);
    if (threadIdx.x == 0) {
      column.after_residual(totals.first, totals.second);
      if (blockIdx.x == 0) state.records[made] = {column.norm, column.alpha, column.beta};
    }
    __syncthreads();
    if (!column.moves()) break;

    // x += alpha p, p = z + beta p
    const T beta = static_cast<T>(column.beta);
    const bool keeps = column.keeps;
#pragma unroll
    for (int k = 0; k < kOwned; ++k) {
      const Offset row = thread + Offset{k} * threads;
      if (row >= state.rows) continue;
      const T p = __ldcg(state.p + row);
      if (keeps) state.best[row] = x[k];
      x[k] += alpha * p;
      const T z = state.inverse_diagonal == nullptr ? r[k] : state.inverse_diagonal[row] * r[k];
      state.p[row] = z + beta * p;
    }
    ++made;
    __syncthreads();  // nobody reads the column's state any more
    if (threadIdx.x == 0 && column.state == ColumnState::last_step) {
      column.state = ColumnState::idle;
    }
    grid.sync();
  }
#pragma unroll
  for (int k = 0; k < kOwned; ++k) {
    const Offset row = thread + Offset{k} * threads;
    if (row >= state.rows) continue;
    state.x[row] = x[k];
    state.r[row] = r[k];
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) state.column[0] = column;
}

int multiprocessors_of(int device) {
  int count = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return std::min(count, kSumBlocks);
}

/// Launches with kOwned rows a thread, or more.
template <class T, int kOwned>
void launch(CgState<T> state, DeviceCsrView<T> a, Index iterations, int device,
            cudaStream_t stream) {
  const int resident = multiprocessors_of(device);
  const Offset rows = state.rows;
  if (rows > Offset{resident} * kBlock * kOwned) {
    if constexpr (kOwned < kMostOwned) {
      launch<T, 2 * kOwned>(state, a, iterations, device, stream);
      return;
    } else {
      throw UsageError(
          "persistent holds at most " + std::to_string(Offset{resident} * kBlock * kOwned) +
          " rows on this GPU, and this system has " + std::to_string(rows) + "; use fused");
    }
  }
  // As many blocks as the product, with kLanes threads a row, has work for.
  const Offset wanted = std::max<Offset>(1, (rows * kLanes + kBlock - 1) / kBlock);
  const auto blocks = static_cast<unsigned>(std::min<Offset>(resident, wanted));
  void* arguments[] = {&state, &a, &iterations};
  CHECK_CUDA(cudaLaunchCooperativeKernel(persistent<T, kOwned>, dim3(blocks), dim3(kBlock),
                                         arguments, 0, stream));
}

}  // namespace

template <class T>
void launch_persistent(const CgState<T>& state, const DeviceCsrView<T>& a, Index iterations,
                       int device, cudaStream_t stream) {
  launch<T, 1>(state, a, iterations, device, stream);
}

template void launch_persistent(const CgState<float>&, const DeviceCsrView<float>&, Index, int,
                                cudaStream_t);
template void launch_persistent(const CgState<double>&, const DeviceCsrView<double>&, Index, int,
                                cudaStream_t);

}  // namespace csrkit::gpu

// streamed: the whole loop as one cooperative kernel, for systems larger than L2, which are read
// from memory in every iteration.
// Owns     a block has a share of the rows. As much of their r, q and x as fits stays in shared
//          memory for all iterations. One thread makes and uses q of a row
// Reads    A as plain CSR, once per iteration, by bulk copies that start early, also across
//          barriers; p three times, at least once from L2; the parts of r, q and x that are not
//          held
// Launch   three barriers of the grid per iteration: p'q, r'r, p
// Against  one_pass, which launches a product and a vector kernel in every iteration; persistent,
//          which holds A and reads it entry by entry
#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "gpu/device/grid.h"
#include "gpu/solve/csr_stream.cuh"
#include "gpu/solve/persistent.cuh"
#include "gpu/solve/persistent.h"

namespace csrkit::gpu {

namespace {

/// How many chunks of a block's rows shared memory holds, for each vector.
struct HeldChunks {
  int r = 0, q = 0, x = 0;
};

/// A vector whose first chunks of a block are in shared memory, the rest in global memory.
template <class T>
struct PartlyHeld {
  T* held;
  int chunks;
  T* rest;

  __device__ T get(int chunk, Index row) const {
    return chunk < chunks ? *place(chunk) : rest[row];
  }
  __device__ void set(int chunk, Index row, T value) const {
    *(chunk < chunks ? place(chunk) : rest + row) = value;
  }
  __device__ T* place(int chunk) const { return held + chunk * kPersistentThreads + threadIdx.x; }
};

/// Calls use(load(chunk, row), chunk, row) for this thread's rows; loads of two rows are in flight
/// at once (see for_each_batch).
template <class T, class Load, class Use>
__device__ void for_each_row(const RowsOfBlock& rows, const Load& load, const Use& use) {
  constexpr int kBatch = 2;
  for (int first = 0; first < rows.chunks; first += kBatch) {
    Loaded<T> loaded[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const Index row = rows.row_of(first + k);
      if (row < rows.rows) loaded[k] = load(first + k, row);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const Index row = rows.row_of(first + k);
      if (row < rows.rows) use(loaded[k], first + k, row);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kPersistentThreads, 1)
    streamed(CgState<T> state, StreamedMatrix<T> a, Index own_rows, HeldChunks chunks,
             Index iterations) {
  extern __shared__ __align__(128) unsigned char shared_bytes[];
  __shared__ BulkBarrier barriers[kWarpLanes];
  CgColumn& column = shared_column();
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  RowsOfBlock rows{state.rows, 0, 0, kPersistentThreads, 0};
  rows.first = static_cast<Index>(min(Offset{blockIdx.x} * own_rows, Offset{state.rows}));
  rows.end = static_cast<Index>(min(Offset{rows.first} + own_rows, Offset{state.rows}));
  rows.chunks = (rows.end - rows.first + kPersistentThreads - 1) / kPersistentThreads;

  T* const held = reinterpret_cast<T*>(shared_bytes + a.room_bytes() * kWarpLanes);
  const PartlyHeld<T> r{held, chunks.r, state.r};
  const PartlyHeld<T> q{r.held + chunks.r * kPersistentThreads, chunks.q, state.q};
  const PartlyHeld<T> x{q.held + chunks.q * kPersistentThreads, chunks.x, state.x};
  if (threadIdx.x == 0) column = state.column[0];
  __syncthreads();
  if (!column.moves()) return;  // every block decides the same

  CsrStream<T> stream(a, rows, shared_bytes + a.room_bytes() * warp, barriers + warp);
  for (int chunk = 0; chunk < rows.chunks; ++chunk) {
    const Index row = rows.row_of(chunk);
    if (row == state.rows) continue;
    if (chunk < chunks.r) *r.place(chunk) = state.r[row];
    if (chunk < chunks.x) *x.place(chunk) = state.x[row];
  }
  const auto preconditioned = [&](Index row, T residual) {
    return state.inverse_diagonal == nullptr ? residual : state.inverse_diagonal[row] * residual;
  };

  for (Index made = 0; made < iterations && column.moves();) {
    TwoSums curvature;
    stream.multiply(state.p, [&](int chunk, Index row, T sum) {
      q.set(chunk, row, sum);
      curvature.first += static_cast<double>(sum) * static_cast<double>(state.p[row]);
    });
    with_grid_sums(curvature, state, 0,
                   [&](const TwoSums& sums) { column.after_product(sums.first); });
    if (!column.moves()) break;

    const T alpha = static_cast<T>(column.alpha);
    TwoSums squares;
    for_each_row<T>(
        rows,
        [&](int chunk, Index row) {
          return Loaded<T>{r.get(chunk, row), q.get(chunk, row)};
        },
        [&](const Loaded<T>& at, int chunk, Index row) {
          const T next = at.a - alpha * at.b;
          r.set(chunk, row, next);
          const T z = preconditioned(row, next);
          squares.first += static_cast<double>(next) * static_cast<double>(next);
          squares.second += static_cast<double>(next) * static_cast<double>(z);
        });
    with_grid_sums(squares, state, 2,
                   [&](const TwoSums& sums) { decide_after_residual(state, made, sums, &column); });
    if (!column.moves()) break;

    const T beta = static_cast<T>(column.beta);
    for_each_row<T>(
        rows,
        [&](int chunk, Index row) {
          return Loaded<T>{x.get(chunk, row), state.p[row], r.get(chunk, row)};
        },
        [&](const Loaded<T>& at, int chunk, Index row) {
          if (column.keeps) state.best[row] = at.a;
          x.set(chunk, row, at.a + alpha * at.b);
          state.p[row] = preconditioned(row, at.c) + beta * at.b;
        });
    ++made;
    if (column.state == ColumnState::last_step) break;
    __syncthreads();
    if (threadIdx.x == 0) wait_for_grid(state.barrier);  // every block has written its p
    __syncthreads();
  }
  stream.finish();
  for (int chunk = 0; chunk < rows.chunks; ++chunk) {
    const Index row = rows.row_of(chunk);
    if (row == state.rows) continue;
    if (chunk < chunks.r) state.r[row] = *r.place(chunk);
    if (chunk < chunks.x) state.x[row] = *x.place(chunk);
  }
  leave_column(state, column);
}

template <class T>
class StreamedLoop : public PersistentLoop<T> {
 public:
  StreamedLoop(const CsrMatrix& a, DeviceMemory& memory) : a_(a, memory) {
    int major = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, memory.device()));
    if (major < 9) {
      throw UsageError("streamed needs a GPU of compute capability 9.0; use one_pass");
    }
    const PersistentLimits limits = limits_of(streamed<T>, memory.device());
    const Offset of_block = (Offset{a.rows()} + limits.blocks - 1) / limits.blocks;
    own_rows_ = static_cast<Index>(std::max<Offset>(of_block + kWarpLanes - 1, kWarpLanes) /
                                   kWarpLanes * kWarpLanes);
    blocks_ = std::max(1, static_cast<Index>(blocks_of(a.rows(), own_rows_)));
    const Offset room = limits.shared_bytes - Offset{a_.view().room_bytes()} * kWarpLanes;
    const int wanted = (own_rows_ + kPersistentThreads - 1) / kPersistentThreads;
    int chunks = static_cast<int>(room / Offset{kPersistentThreads * sizeof(T)});
    for (int* held : {&held_.r, &held_.q, &held_.x}) {
      *held = std::min(wanted, chunks);
      chunks -= *held;
    }
  }

  void launch(const CgState<T>& state, Index iterations, cudaStream_t stream) override {
    CgState<T> given = state;
    StreamedMatrix<T> a = a_.view();
    void* arguments[] = {&given, &a, &own_rows_, &held_, &iterations};
    const std::size_t bytes =
        std::size_t{a.room_bytes()} * kWarpLanes +
        static_cast<std::size_t>(held_.r + held_.q + held_.x) * kPersistentThreads * sizeof(T);
    CHECK_CUDA(cudaLaunchCooperativeKernel(streamed<T>, dim3(static_cast<unsigned>(blocks_)),
                                           dim3(kPersistentThreads), arguments, bytes, stream));
  }

 private:
  StreamedArrays<T> a_;
  HeldChunks held_;
  Index own_rows_ = 0, blocks_ = 1;
};

}  // namespace

template <class T>
std::unique_ptr<PersistentLoop<T>> make_streamed_loop(const CsrMatrix& a, DeviceMemory& memory) {
  return std::make_unique<StreamedLoop<T>>(a, memory);
}
template std::unique_ptr<PersistentLoop<float>> make_streamed_loop(const CsrMatrix&, DeviceMemory&);
template std::unique_ptr<PersistentLoop<double>> make_streamed_loop(const CsrMatrix&,
                                                                    DeviceMemory&);

}  // namespace csrkit::gpu

// nnz_atomic: equal pieces of nonzeros, added into C by atomics. For A^T B without making A^T,
// where bits may differ from run to run (--nondeterministic): for a few products, or where A^T does
// not fit.
// Owns     8, 16 or 32 lanes: a piece of kPiece nonzeros, 16 bytes of B per lane wide; it keeps
//          sums while the row of C stays the same, which in A^T B is for one nonzero
// Reads    A once per slice, coalesced, with an array of every entry's row; eight rows of B in
//          flight. C by reductions of up to 16 bytes in L2, after a pass that clears or scales it.
//          No shared memory
// Launch   128 threads; slices of the columns in the outer grid dimension
// Needs    plus and times, C of the accumulation's kind; kernels.inc says so
// Against  row_bins on A^T: nothing is sorted, so the first product is done three to six times
//          sooner. But L2 adds at a third of the speed at which it reads, and the bits differ from
//          run to run

#include <algorithm>
#include <utility>

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 128, kWarp = 32;
constexpr int kPiece = 32, kStep = 8;

template <class Types>
struct AtomicOperands {
  const Index* targets;  // of each entry: its row of C,
  const Index* sources;  // and of B
  const typename Types::Value* values;
  Offset nnz;
  DeviceDenseView<const typename Types::Value> b;
  DeviceDenseView<typename Types::Output> c;
  typename Types::Accumulate alpha;
  Offset first_slice;
};

template <int kWidth>
__device__ void add_to(double* to, const double (&sums)[kWidth]) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) atomicAdd(to + i, sums[i]);
}
template <int kWidth>
__device__ void add_to(float* to, const float (&sums)[kWidth]) {
#if __CUDA_ARCH__ >= 900
  constexpr bool kInFours = kWidth % 4 == 0;
#else
  constexpr bool kInFours = false;
#endif
  if constexpr (kInFours) {
#pragma unroll
    for (int i = 0; i < kWidth; i += 4) {
      asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to + i),
                   "f"(sums[i]), "f"(sums[i + 1]), "f"(sums[i + 2]), "f"(sums[i + 3])
                   : "memory");
    }
  } else {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) atomicAdd(to + i, sums[i]);
  }
}

template <class Types, int kWidth, int kLanes>
__global__ void __launch_bounds__(kThreads) add_pieces(AtomicOperands<Types> op) {
  using Number = typename Types::Accumulate;
  using Value = typename Types::Value;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const Offset group = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const Offset begin = group * kPiece;
  const Offset first_of_warp = begin - Offset{threadIdx.x % kWarp / kLanes} * kPiece;
  if (first_of_warp >= op.nnz) return;  // whole warps
  const Offset column = ((op.first_slice + blockIdx.y) * kLanes + lane) * kWidth;
  const bool has_columns = column < op.c.cols;
  const Value* b_column = op.b.data + (has_columns ? column : 0);
  const auto left = static_cast<int>(min(Offset{kPiece}, max(Offset{0}, op.nnz - begin)));

  Index target = -1;
  Sums<Types, kWidth> sums;
  const auto flush = [&] {
    if (target < 0 || !has_columns) return;
    if (op.alpha != Number{1}) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) sums.item[i] *= op.alpha;
    }
    add_to(op.c.data + Offset{target} * op.c.leading_dim + column, sums.item);
  };
#pragma unroll 1
  for (int done = 0; done < kPiece; done += kStep) {
    Index my_target = -1, my_source = 0;
    Number my_value = 0;
    if (lane < kStep && done + lane < left) {
      const Offset at = begin + done + lane;
      my_target = load_once(op.targets + at);
      my_source = load_once(op.sources + at);
      my_value = op.values == nullptr ? Number{1} : widen<Number>(load_once(op.values + at));
    }
    Pack<Value, kWidth> y[kStep];
#pragma unroll
    for (int u = 0; u < kStep; ++u) {
      const Index source = __shfl_sync(kAllLanes, my_source, u, kLanes);
      y[u] = load_kept<kWidth>(b_column + Offset{source} * op.b.leading_dim);
    }
#pragma unroll
    for (int u = 0; u < kStep; ++u) {
      const Index next = __shfl_sync(kAllLanes, my_target, u, kLanes);
      const Number x = __shfl_sync(kAllLanes, my_value, u, kLanes);
      if (next != target) {
        flush();
        sums.clear();
        target = next;
      }
      if (next >= 0) sums.add_product(x, y[u]);
    }
  }
  flush();
}

/// kLanesPerRow threads per row.
constexpr int kLanesPerRow = 8;
__global__ void __launch_bounds__(kThreads)
    write_row_of_entry(DeviceOffsets row_offsets, Offset base, Index rows, Index* row_of_entry) {
  const Offset row = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kLanesPerRow;
  if (row >= rows) return;
  const Offset end = row_offsets[row + 1] - base;
  for (Offset at = row_offsets[row] - base + threadIdx.x % kLanesPerRow; at < end;
       at += kLanesPerRow) {
    row_of_entry[at] = static_cast<Index>(row);
  }
}

/// C = beta * C; C is read only if beta is not 0.
template <class Number>
__global__ void __launch_bounds__(kThreads) scale(DeviceDenseView<Number> c, Number beta) {
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= Offset{c.rows} * c.cols) return;
  Number* element = c.data + at / c.cols * c.leading_dim + at % c.cols;
  *element = beta == 0 ? Number{0} : beta * *element;
}

template <class Types>
class NnzAtomic final : public DeviceSpmm {
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;

 public:
  explicit NnzAtomic(bool is_transposed) : is_transposed_(is_transposed) {}

  bool transposes() const override { return true; }

  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const override {
    return static_cast<std::uint64_t>(sizes.nnz) * sizeof(Index);
  }

  void analyse(const DeviceCsrView<void>& a, const SpmmSizes&, void* workspace,
               cudaStream_t stream) override {
    if (a.nnz == 0) return;
    write_row_of_entry<<<blocks_of(Offset{a.rows} * kLanesPerRow, kThreads), kThreads, 0, stream>>>(
        a.row_offsets, a.base, a.rows, static_cast<Index*>(workspace));
    CHECK_LAUNCH("write_row_of_entry", stream);
  }

  void launch(const DeviceCsrView<void>& a, const ConstDenseView& b, const DenseView& c,
              double alpha, double beta, void* workspace, cudaStream_t stream) override {
    AtomicOperands<Types> operands{static_cast<const Index*>(workspace),
                                   a.col_indices,
                                   static_cast<const Value*>(a.values),
                                   a.nnz,
                                   {b.as<Value>(), b.rows, b.cols, b.leading_dim},
                                   {c.as<Number>(), c.rows, c.cols, c.leading_dim},
                                   static_cast<Number>(alpha),
                                   0};
    if (is_transposed_) std::swap(operands.targets, operands.sources);
    start_with(operands.c, static_cast<Number>(beta), stream);
    if (a.nnz == 0) return;
    with_width<Types>(widest_access(operands.b, operands.c), [&](auto width) {
      constexpr int kWidth = decltype(width)::value;
      if (c.cols <= 8 * kWidth) return launch_slices<kWidth, 8>(operands, stream);
      if (c.cols <= 16 * kWidth) return launch_slices<kWidth, 16>(operands, stream);
      launch_slices<kWidth, 32>(operands, stream);
    });
  }

 private:
  static void start_with(const DeviceDenseView<Number>& c, Number beta, cudaStream_t stream) {
    const Offset elements = Offset{c.rows} * c.cols;
    if (beta == 1 || elements == 0) return;
    if (beta == 0 && c.leading_dim == c.cols) {
      CHECK_CUDA(
          cudaMemsetAsync(c.data, 0, static_cast<std::size_t>(elements) * sizeof(Number), stream));
      return;
    }
    scale<<<blocks_of(elements, kThreads), kThreads, 0, stream>>>(c, beta);
    CHECK_LAUNCH("scale", stream);
  }

  template <int kWidth, int kLanes>
  void launch_slices(AtomicOperands<Types> operands, cudaStream_t stream) const {
    constexpr Offset kSlice = Offset{kWidth} * kLanes;
    const Offset slices = (Offset{operands.c.cols} + kSlice - 1) / kSlice;
    const Offset groups = (operands.nnz + kPiece - 1) / kPiece;
    for (; operands.first_slice < slices; operands.first_slice += kMaxGridY) {
      const Offset now = std::min(slices - operands.first_slice, kMaxGridY);
      const dim3 grid(blocks_of(groups * kLanes, kThreads), static_cast<unsigned>(now));
      add_pieces<Types, kWidth, kLanes><<<grid, kThreads, 0, stream>>>(operands);
      CHECK_LAUNCH("add_pieces", stream);
    }
  }

  bool is_transposed_;
};

template <class Value, class Number>
std::unique_ptr<DeviceSpmm> make_atomic(const SpmmProblem& problem) {
  return std::make_unique<NnzAtomic<SpmmTypes<Value, Number>>>(problem.transpose_a);
}

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_nnz_atomic(const SpmmProblem& problem) {
  switch (problem.b) {
    case ValueKind::f32: return make_atomic<float, float>(problem);
    case ValueKind::f64: return make_atomic<double, double>(problem);
    case ValueKind::f16: return make_atomic<f16, float>(problem);
    case ValueKind::bf16: return make_atomic<bf16, float>(problem);
    case ValueKind::none: break;
  }
  throw UsageError("B cannot be of kind none");
}

}  // namespace csrkit::gpu

// persistent, sparse: the whole loop as one cooperative kernel.
// Owns     a block has neighbouring rows with about as many entries as other blocks. Their x, r, p
//          and q are in shared memory, and their part of A where it fits
// Reads    A once per iteration, from shared memory or L2; z and p of other rows from L2
// Launch   two barriers of the grid per iteration. The product computes p = z + beta p itself for
//          every column that it reads, from z and the last p, which saves a third barrier
// Against  fused, whose launches cost more than their work where systems are small
#include <algorithm>
#include <string>
#include <vector>

#include "gpu/solve/persistent.cuh"
#include "gpu/solve/persistent.h"

namespace csrkit::gpu {

namespace {

constexpr Index kLeastRows = 128;        // of a block: with fewer it would wait more than work
constexpr Index kRowWeight = 4;          // the cost of a row beside its entries, in entries
constexpr Offset kMostOfFewLanes = 256;  // entries; if one row is longer, every row gets a warp

/// The shared memory of a block.
struct Shares {
  Index rows = 0;      // the most of a block
  Offset entries = 0;  // the most of a block
  bool holds_a = false;

  template <class T>
  Offset bytes(bool has_values) const {
    const Offset vectors = 4 * Offset{rows} * static_cast<Offset>(sizeof(T));
    const Offset of_entry = static_cast<Offset>(sizeof(Index) + (has_values ? sizeof(T) : 0));
    return vectors + (Offset{rows} + 1) * static_cast<Offset>(sizeof(Index)) +
           (holds_a ? entries * of_entry : 0);
  }
};

/// A block's rows of A, in shared or global memory. Offsets count from the block's first entry.
template <class T>
struct Slice {
  const Index* offsets;
  const Index* cols;
  const T* values;  // null: all are 1
};

template <class T, int kLanes>
__global__ void __launch_bounds__(kPersistentThreads)
    persistent_sparse(CgState<T> state, DeviceCsrView<T> a, const Index* row_begins, Shares shares,
                      Index iterations) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  CgColumn& column = shared_column();
  const auto thread = static_cast<Index>(threadIdx.x);
  const Index first = row_begins[blockIdx.x], own = row_begins[blockIdx.x + 1] - first;

  T* const x = reinterpret_cast<T*>(shared_bytes);
  T *const r = x + shares.rows, *const p = r + shares.rows, *const q = p + shares.rows;
  T* const held_values = q + shares.rows;
  const bool has_values = a.values != nullptr;
  Index* const offsets =
      reinterpret_cast<Index*>(held_values + (shares.holds_a && has_values ? shares.entries : 0));
  Index* const held_cols = offsets + shares.rows + 1;
  const Offset base = own > 0 ? a.row_begin(first) : 0;
  for (Index i = thread; i < own; i += kPersistentThreads) {
    offsets[i + 1] = static_cast<Index>(a.row_end(first + i) - base);
    x[i] = state.x[first + i];
    r[i] = state.r[first + i];
    p[i] = state.p[first + i];
  }
  if (thread == 0) {
    offsets[0] = 0;
    column = state.column[0];
  }
  __syncthreads();
  Slice<T> slice{offsets, a.col_indices + base, has_values ? a.values + base : nullptr};
  if (shares.holds_a) {
    for (Index i = thread; i < offsets[own]; i += kPersistentThreads) {
      held_cols[i] = slice.cols[i];
      if (has_values) held_values[i] = slice.values[i];
    }
    slice = {offsets, held_cols, has_values ? held_values : nullptr};
    __syncthreads();
  }
  const auto preconditioned = [&](Index i) {
    return state.inverse_diagonal == nullptr ? r[i] : state.inverse_diagonal[first + i] * r[i];
  };

  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  T* old_p = state.p;
  T* new_p = state.q;  // q itself never leaves the block
  T beta = 0;
  Index made = 0;
  while (made < iterations && column.moves()) {
    // p = z + beta p (the first p is given), q = A p, p'q
    const bool has_p = made == 0;
    TwoSums product;
    // Whole warps: lanes of a row exchange their sums.
    for (Index i = thread / kLanes; i / kWarpLanes * kWarpLanes < own;
         i += kPersistentThreads / kLanes) {
      T sum = 0;
      if (i < own) {
        const Index end = slice.offsets[i + 1];
#pragma unroll 4
        for (Index at = slice.offsets[i] + lane; at < end; at += kLanes) {
          const Index col = slice.cols[at];
          const T before = __ldcg(old_p + col);
          const T direction = has_p ? before : fma(beta, before, __ldcg(state.z + col));
          sum += (slice.values == nullptr ? T{1} : slice.values[at]) * direction;
        }
      }
      for (int offset = kLanes / 2; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(lanes_of_group<kLanes>(), sum, offset);
      }
      if (i < own && lane == 0) {
        if (!has_p) p[i] = fma(beta, p[i], preconditioned(i));
        new_p[first + i] = p[i];
        q[i] = sum;
        product.first += static_cast<double>(sum) * static_cast<double>(p[i]);
      }
    }
    with_grid_sums(product, state, 0,
                   [&](const TwoSums& sums) { column.after_product(sums.first); });
    if (!column.moves()) break;

    // r -= alpha q, r'r, r'z
    const T alpha = static_cast<T>(column.alpha);
    TwoSums squares;
    for (Index i = thread; i < own; i += kPersistentThreads) {
      r[i] -= alpha * q[i];
      const T z = preconditioned(i);
      state.z[first + i] = z;
      squares.first += static_cast<double>(r[i]) * static_cast<double>(r[i]);
      squares.second += static_cast<double>(r[i]) * static_cast<double>(z);
    }
    with_grid_sums(squares, state, 2,
                   [&](const TwoSums& sums) { decide_after_residual(state, made, sums, &column); });
    if (!column.moves()) break;

    // x += alpha p
    for (Index i = thread; i < own; i += kPersistentThreads) {
      if (column.keeps) state.best[first + i] = x[i];
      x[i] += alpha * p[i];
    }
    beta = static_cast<T>(column.beta);
    T* const swapped = old_p;
    old_p = new_p;
    new_p = swapped;
    ++made;
    if (column.state == ColumnState::last_step) break;
    __syncthreads();  // p has been read
  }
  for (Index i = thread; i < own; i += kPersistentThreads) {
    state.x[first + i] = x[i];
    state.p[first + i] = fma(beta, p[i], preconditioned(i));
    if (!state.is_plain()) state.r[first + i] = r[i];
  }
  leave_column(state, column);
}

/// The first row of each block; blocks have about equal weights of entries and rows.
std::vector<Index> balanced_rows(const CsrMatrix& a, Index blocks) {
  const Offset* const offsets = a.row_offsets();
  const auto weight = [&](Index row) { return offsets[row] + Offset{kRowWeight} * row; };
  std::vector<Index> begins{0};
  for (Index block = 1; block < blocks; ++block) {
    const Offset wanted = weight(a.rows()) * block / blocks;
    Index low = begins.back(), high = a.rows();
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      weight(middle) < wanted ? low = middle + 1 : high = middle;
    }
    begins.push_back(low);
  }
  begins.push_back(a.rows());
  return begins;
}

template <class T>
class SparseLoop : public PersistentLoop<T> {
 public:
  SparseLoop(const CsrMatrix& a, DeviceMemory& memory) {
    const Offset* const offsets = a.row_offsets();
    Offset longest = 0;
    for (Index row = 0; row < a.rows(); ++row) {
      longest = std::max(longest, offsets[row + 1] - offsets[row]);
    }
    const Offset mean = a.rows() > 0 ? a.nnz() / a.rows() : 0;
    kernel_ = longest > kMostOfFewLanes ? persistent_sparse<T, 32>
              : mean > 16               ? persistent_sparse<T, 8>
              : mean > 8                ? persistent_sparse<T, 2>
                                        : persistent_sparse<T, 1>;
    const PersistentLimits limits = limits_of(kernel_, memory.device());
    blocks_ = std::max(1, std::min(limits.blocks, a.rows() / kLeastRows));
    const std::vector<Index> begins = balanced_rows(a, blocks_);
    for (std::size_t block = 0; block + 1 < begins.size(); ++block) {
      const Index from = begins[block], to = begins[block + 1];
      shares_.rows = std::max(shares_.rows, to - from);
      shares_.entries = std::max(shares_.entries, offsets[to] - offsets[from]);
    }
    const bool has_values = a.value_kind() != ValueKind::none;
    const Offset room = limits.shared_bytes;
    shares_.holds_a = true;
    shares_.holds_a = shares_.template bytes<T>(has_values) <= room;
    bytes_ = shares_.template bytes<T>(has_values);
    if (bytes_ > room || shares_.entries > kMaxIndex) {
      throw UsageError("persistent holds " + std::to_string(room) +
                       " bytes of vectors in every multiprocessor, and this system of " +
                       std::to_string(a.rows()) + " rows needs " + std::to_string(bytes_) +
                       "; use fused");
    }
    const CsrMatrix converted = has_values ? convert_values(a, kValueKindOf<T>) : a;
    a_ = DeviceCsr(memory, converted);
    row_begins_ = DeviceBuffer<Index>(memory, blocks_ + 1, "first rows of blocks");
    CHECK_CUDA(cudaMemcpyAsync(row_begins_.data(), begins.data(), row_begins_.size_bytes(),
                               cudaMemcpyHostToDevice, memory.stream()));
    CHECK_CUDA(cudaStreamSynchronize(memory.stream()));  // the copies' sources go now
  }

  void launch(const CgState<T>& state, Index iterations, cudaStream_t stream) override {
    CgState<T> given = state;
    DeviceCsrView<T> a = a_.template view<T>();
    const Index* row_begins = row_begins_.data();
    void* arguments[] = {&given, &a, &row_begins, &shares_, &iterations};
    CHECK_CUDA(cudaLaunchCooperativeKernel(kernel_, dim3(static_cast<unsigned>(blocks_)),
                                           dim3(kPersistentThreads), arguments,
                                           static_cast<std::size_t>(bytes_), stream));
  }

 private:
  void (*kernel_)(CgState<T>, DeviceCsrView<T>, const Index*, Shares, Index) = nullptr;
  Shares shares_;
  Offset bytes_ = 0;
  Index blocks_ = 1;
  DeviceCsr a_;
  DeviceBuffer<Index> row_begins_;
};

}  // namespace

template <class T>
std::unique_ptr<PersistentLoop<T>> make_sparse_loop(const CsrMatrix& a, DeviceMemory& memory) {
  return std::make_unique<SparseLoop<T>>(a, memory);
}
template std::unique_ptr<PersistentLoop<float>> make_sparse_loop(const CsrMatrix&, DeviceMemory&);
template std::unique_ptr<PersistentLoop<double>> make_sparse_loop(const CsrMatrix&, DeviceMemory&);

}  // namespace csrkit::gpu

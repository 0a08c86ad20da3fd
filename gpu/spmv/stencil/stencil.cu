// stencil: whole diagonals with a bit for each row, and one number where a diagonal is constant.
// Owns     the offsets of diagonals, stored ones first. A constant diagonal (all entries have the
//          same bits): its value, and a bit for each row. A stored one: a value for every row, with
//          a mark where there is no entry, because 0 times infinity would be NaN
// Reads    a stencil with constant coefficients: 1 to 4 bytes a row beside x and y; with distinct
//          values 8 an entry. No column indices; x in sequence
// Launch   one thread per element of y; up to 64 diagonals are a kernel parameter. x is loaded
//          before the mask or the value has arrived, so the loads overlap
// Needs    few diagonals, well filled: refused (MemoryError) where the stored values would be 16
//          times the matrix
// Source   diagonals: Bell, Garland, SC 2009, "DIA"; masks and constants are this file's own
// Against  dia, compressed

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/device_spmv.h"
#include "gpu/spmv/stencil/encode.h"

namespace csrkit::gpu {

namespace {

/// A diagonal of a product.
template <class Number>
struct alignas(16) Diagonal {
  Index offset;     // col - row
  Number constant;  // the value of all its entries, if it is not stored
};

/// Few diagonals are a kernel parameter, in constant memory, where reads cost almost nothing. More
/// of them are in device memory.
template <class Number>
struct FewDiagonals {
  Diagonal<Number> items[kFewDiagonals];
};
template <class Number>
struct ManyDiagonals {
  const Diagonal<Number>* items;
};

template <class Value>
struct StencilRows {
  Index cols;
  Index count;   // of diagonals
  Index stored;  // the first ones
  Index mask_bytes;
  const unsigned char* masks;
  const Value* values;

  __device__ std::uint32_t mask_at(Offset at) const {
    switch (mask_bytes) {  // uniform
      case 1: return __ldcs(masks + at);
      case 2: return __ldcs(reinterpret_cast<const std::uint16_t*>(masks) + at);
      default: return __ldcs(reinterpret_cast<const std::uint32_t*>(masks) + at);
    }
  }
};

/// One thread per diagonal.
template <class Types>
__global__ void list_diagonals(EncodedDiagonals::View encoded, const typename Types::Value* values,
                               Diagonal<typename Types::Number>* diagonals) {
  using Number = typename Types::Number;
  const Offset d = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (d >= encoded.count) return;
  const Number constant = values == nullptr ? Number{1} : widen<Number>(values[encoded.firsts[d]]);
  diagonals[encoded.place_of(static_cast<Index>(d))] = {encoded.offsets[d], constant};
}

/// Keeps the load here: the compiler would move it to its use, where it would wait for the mask.
__device__ inline void is_wanted_now(double& number) { asm volatile("" : "+d"(number)); }
__device__ inline void is_wanted_now(float& number) { asm volatile("" : "+f"(number)); }

/// The element of x on a diagonal; 0 where the diagonal is outside of x.
template <class Number, class Vector>
__device__ Number factor_of(Index offset, unsigned row, Index cols, const InputVector<Vector>& x) {
  const unsigned col = row + static_cast<unsigned>(offset);  // beyond either end: a large number
  return col < static_cast<unsigned>(cols) ? x.template at<Number>(static_cast<Index>(col))
                                           : Number{};
}

/// Adds the products of constant diagonals first ... end, whose bits are the lowest of `mask`.
template <class Number, class Diagonals, class Vector, class Algebra>
__device__ Number add_constants(Number sum, const Diagonals& diagonals, Index first, Index end,
                                std::uint32_t mask, unsigned row, Index cols,
                                const InputVector<Vector>& x, const Algebra& algebra) {
  constexpr Index kBatch = 8;
  for (; first < end; first += kBatch) {
    Number factors[kBatch];
#pragma unroll
    for (Index u = 0; u < kBatch; ++u) {
      if (first + u >= end) continue;
      factors[u] = factor_of<Number>(diagonals.items[first + u].offset, row, cols, x);
      is_wanted_now(factors[u]);
    }
#pragma unroll
    for (Index u = 0; u < kBatch; ++u) {
      if ((mask >> u & 1) == 0) continue;
      sum = algebra.add_product(sum, diagonals.items[first + u].constant, factors[u]);
    }
    mask >>= kBatch;
  }
  return sum;
}

/// Whether a stored diagonal has no entry there.
template <class Value>
__device__ bool is_gap(Value value) {
  using Bits =
      std::conditional_t<sizeof(Value) == 8, unsigned long long,
                         std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint16_t>>;
  Bits bits;
  memcpy(&bits, &value, sizeof bits);
  return bits == kGap<Bits>;
}

/// Adds the products of stored diagonals: as many warps as the multiprocessor holds, with few
/// registers each, keep memory busy here, so this is a plain loop.
template <class Types, class Diagonals, class Algebra>
__device__ typename Types::Number add_stored(typename Types::Number sum, const Diagonals& diagonals,
                                             const StencilRows<typename Types::Value>& a,
                                             unsigned row, Index rows,
                                             const InputVector<typename Types::Vector>& x,
                                             const Algebra& algebra) {
  using Number = typename Types::Number;
  const typename Types::Value* value = a.values + row;
#pragma unroll 4
  for (Index d = 0; d < a.stored; ++d, value += rows) {
    const typename Types::Value stored = load_once(value);
    const unsigned col = row + static_cast<unsigned>(diagonals.items[d].offset);
    if (col < static_cast<unsigned>(a.cols)) {
      const Number factor = x.template at<Number>(static_cast<Index>(col));
      const Number next = algebra.add_product(sum, widen<Number>(stored), factor);
      sum = is_gap(stored) ? sum : next;
    }
  }
  return sum;
}

/// One thread per element of y: threadIdx.x is its column, of those from blockIdx.y * blockDim.x. A
/// single column is compiled separately, with simpler addresses.
template <class Types, bool kAnyStored, bool kOneColumn, class Diagonals>
__global__ void __launch_bounds__(kSpmvThreads, kAnyStored ? 8 : 0)
    multiply_stencil(const __grid_constant__ Diagonals diagonals,
                     StencilRows<typename Types::Value> a, InputVector<typename Types::Vector> x,
                     OutputUpdate<Types> y,
                     AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra) {
  using Number = typename Types::Number;
  unsigned row = blockIdx.x * kSpmvThreads + threadIdx.x;
  if constexpr (!kOneColumn) {
    row = blockIdx.x * blockDim.y + threadIdx.y;
    const auto column = static_cast<Index>(blockIdx.y * blockDim.x + threadIdx.x);
    if (column >= y.cols) return;
    x = x.column(column);
    y = y.column(column);
  }
  if (row >= static_cast<unsigned>(y.rows)) return;
  Number sum = algebra.empty_sum();
  if constexpr (kAnyStored) {
    sum = add_stored<Types>(sum, diagonals, a, row, y.rows, x, algebra);
  }
  const Index constants = a.count - a.stored;
  for (Index first = 0; first < constants; first += kMaskBits) {
    const std::uint32_t mask = a.mask_at(Offset{first / kMaskBits} * y.rows + row);
    const Index end = a.stored + min(first + kMaskBits, constants);
    sum = add_constants(sum, diagonals, a.stored + first, end, mask, row, a.cols, x, algebra);
  }
  y.store(static_cast<Index>(row), sum);
}

template <class Types>
class Stencil {
  using Value = typename Types::Value;
  using Number = typename Types::Number;

 public:
  explicit Stencil(Semiring semiring) : algebra_(semiring) {}

  void convert(DeviceCsr a, DeviceMemory& memory) {
    const DeviceCsrView<void> view = a.view<void>();
    const int value_bytes = static_cast<int>(sizeof(Value));
    EncodedDiagonals encoded;
    encoded.measure(view, value_bytes, a.nnz(), memory);
    require_worthwhile("stencil", encoded.bytes(a.rows(), value_bytes), csr_bytes_of(a));
    cols_ = a.cols();
    stored_ = encoded.stored();
    mask_bytes_ = encoded.mask_bytes();
    diagonals_ = DeviceBuffer<Diagonal<Number>>(memory, encoded.count(), "diagonals");
    masks_ = DeviceBuffer<unsigned char>(memory, Offset{a.rows()} * mask_bytes_, "masks of rows");
    values_ = DeviceBuffer<Value>(memory, Offset{stored_} * a.rows(), "values of diagonals");
    if (encoded.count() == 0) return;
    const cudaStream_t stream = memory.stream();
    // They are copied whole, with the gaps between their members.
    CHECK_CUDA(cudaMemsetAsync(diagonals_.data(), 0, diagonals_.size_bytes(), stream));
    encoded.store(view, value_bytes, masks_.data(), values_.data(), stream);
    list_diagonals<Types><<<spmv_blocks(encoded.count()), kSpmvThreads, 0, stream>>>(
        encoded.view(), a.view<Value>().values, diagonals_.data());
    CHECK_LAUNCH("list_diagonals", stream);
    if (encoded.count() > kFewDiagonals) return;
    CHECK_CUDA(cudaMemcpyAsync(few_.items, diagonals_.data(), diagonals_.size_bytes(),
                               cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
  }

  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    if (diagonals_.size() > kFewDiagonals) {
      launch_with(ManyDiagonals<Number>{diagonals_.data()}, x, y, stream);
    } else {
      launch_with(few_, x, y, stream);
    }
  }
  std::uint64_t stored_bytes() const {
    return diagonals_.size_bytes() + masks_.size_bytes() + values_.size_bytes();
  }
  std::string choice() const {
    return std::to_string(diagonals_.size()) + " diagonals, " +
           std::to_string(diagonals_.size() - stored_) + " of them constant";
  }

 private:
  template <class Diagonals>
  void launch_with(const Diagonals& diagonals, const InputVector<typename Types::Vector>& x,
                   const OutputUpdate<Types>& y, cudaStream_t stream) const {
    const StencilRows<Value> a = {cols_,         static_cast<Index>(diagonals_.size()),
                                  stored_,       mask_bytes_,
                                  masks_.data(), values_.data()};
    const auto queue = [&](auto* multiply, dim3 blocks, dim3 threads) {
      multiply<<<blocks, threads, 0, stream>>>(diagonals, a, x, y, algebra_);
    };
    if (y.cols == 1) {
      queue(stored_ == 0 ? multiply_stencil<Types, false, true, Diagonals>
                         : multiply_stencil<Types, true, true, Diagonals>,
            spmv_blocks(y.rows), kSpmvThreads);
    } else {
      const auto across = static_cast<unsigned>(std::min(y.cols, kWarpLanes));
      const dim3 threads(across, kSpmvThreads / across);
      const dim3 blocks((static_cast<unsigned>(y.rows) + threads.y - 1) / threads.y,
                        (static_cast<unsigned>(y.cols) + across - 1) / across);
      queue(stored_ == 0 ? multiply_stencil<Types, false, false, Diagonals>
                         : multiply_stencil<Types, true, false, Diagonals>,
            blocks, threads);
    }
    CHECK_LAUNCH("multiply_stencil", stream);
  }

  AlgebraFor<Number, Types::kIsPlusTimes> algebra_;
  Index cols_ = 0;
  Index stored_ = 0;
  Index mask_bytes_ = 1;
  FewDiagonals<Number> few_ = {};
  DeviceBuffer<Diagonal<Number>> diagonals_;
  DeviceBuffer<unsigned char> masks_;
  DeviceBuffer<Value> values_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_stencil(const SpmmProblem& problem) {
  return typed_spmv<Stencil>(problem);
}

}  // namespace csrkit::gpu

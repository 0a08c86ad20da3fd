// stencil: whole diagonals with a bit for each row, and one number where a diagonal is constant.
// Owns     for each diagonal its offset and, if all its entries have the same bits, that value;
//          the values of any other diagonal, one for every row; for each row a bit a diagonal, so
//          that a gap is no stored 0: 0 times infinity is NaN
// Reads    a stencil with constant coefficients: 1 to 4 bytes a row beside x and y; with distinct
//          values 8 an entry more. No column indices; x in sequence
// Launch   one thread per row. x and values are asked for before the mask is there, which only says
//          what is added up: one wait in the place of two
// Needs    few diagonals, well filled: refused (MemoryError) where the stored values would be 16
//          times the matrix
// Source   diagonals: Bell, Garland, SC 2009, "DIA"; masks and constants are this file's own
// Against  dia, compressed

#include "gpu/device/cuda_check.h"
#include "gpu/spmv/device_spmv.h"
#include "gpu/spmv/stencil/encode.h"

namespace csrkit::gpu {

namespace {

/// A diagonal as the product reads it, by one load.
template <class Number>
struct alignas(16) Diagonal {
  Index offset;  // col - row
  Index slot;    // where its values are stored; -1: all of them are `constant`
  Number constant;
};

template <class Types>
struct StencilView {
  using Number = typename Types::Number;
  using Value = typename Types::Value;
  Index cols;
  Index count;
  const Diagonal<Number>* diagonals;
  Index mask_bytes;
  const unsigned char* masks;
  const Value* values;

  __device__ unsigned long long mask_at(Offset at) const {
    switch (mask_bytes) {  // the same for all threads
      case 1: return __ldcs(masks + at);
      case 2: return __ldcs(reinterpret_cast<const std::uint16_t*>(masks) + at);
      case 4: return __ldcs(reinterpret_cast<const std::uint32_t*>(masks) + at);
      default: return __ldcs(reinterpret_cast<const unsigned long long*>(masks) + at);
    }
  }
  __device__ Diagonal<Number> diagonal(Index d) const {
    const auto words = load_kept<4>(reinterpret_cast<const std::uint32_t*>(diagonals + d));
    Diagonal<Number> loaded;
    memcpy(&loaded, &words, sizeof loaded);
    return loaded;
  }
};

/// One thread per diagonal.
template <class Types>
__global__ void list_constants(Index count, const Index* offsets, const Offset* slots,
                               const Offset* firsts, const typename Types::Value* values,
                               Diagonal<typename Types::Number>* diagonals) {
  using Number = typename Types::Number;
  const Offset d = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (d >= count) return;
  const bool is_stored = slots[d + 1] > slots[d];
  diagonals[d].offset = offsets[d];
  diagonals[d].slot = is_stored ? static_cast<Index>(slots[d]) : -1;
  diagonals[d].constant = values == nullptr ? Number{1} : widen<Number>(values[firsts[d]]);
}

template <class Types>
__global__ void __launch_bounds__(kSpmvThreads)
    multiply_stencil(StencilView<Types> a, InputVector<typename Types::Vector> x,
                     OutputUpdate<Types> y,
                     AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra) {
  using Number = typename Types::Number;
  constexpr int kBatch = 4;
  const Offset row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (row >= y.rows) return;
  Number sum = algebra.empty_sum();
  for (Index first = 0; first < a.count; first += kMaskBits) {
    unsigned long long mask = a.mask_at(Offset{first / kMaskBits} * y.rows + row);
    const Index end = min(first + kMaskBits, a.count);
    for (Index d = first; d < end; d += kBatch) {
      Number values[kBatch], factors[kBatch];
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if (d + u >= end) continue;
        const Diagonal<Number> diagonal = a.diagonal(d + u);
        // Beyond either end of x this is a large number.
        const auto col = static_cast<unsigned>(row) + static_cast<unsigned>(diagonal.offset);
        factors[u] = col < static_cast<unsigned>(a.cols)
                         ? x.template at<Number>(static_cast<Index>(col))
                         : Number{};
        values[u] = diagonal.slot < 0
                        ? diagonal.constant
                        : widen<Number>(load_once(a.values + Offset{diagonal.slot} * y.rows + row));
      }
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if ((mask >> u & 1) != 0) sum = algebra.add_product(sum, values[u], factors[u]);
      }
      mask >>= kBatch;
    }
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
    mask_bytes_ = mask_bytes_for(encoded.count());
    diagonals_ = DeviceBuffer<Diagonal<Number>>(memory, encoded.count(), "diagonals");
    masks_ = DeviceBuffer<unsigned char>(memory, Offset{a.rows()} * mask_bytes_, "masks of rows");
    values_ = DeviceBuffer<Value>(memory, Offset{stored_} * a.rows(), "values of diagonals");
    if (encoded.count() == 0) return;
    const cudaStream_t stream = memory.stream();
    encoded.store(view, value_bytes, masks_.data(), values_.data(), stream);
    list_constants<Types><<<spmv_blocks(encoded.count()), kSpmvThreads, 0, stream>>>(
        encoded.count(), encoded.offsets(), encoded.slots(), encoded.firsts(),
        a.view<Value>().values, diagonals_.data());
    CHECK_LAUNCH("list_constants", stream);
  }

  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    const StencilView<Types> a = {cols_,
                                  static_cast<Index>(diagonals_.size()),
                                  diagonals_.data(),
                                  mask_bytes_,
                                  masks_.data(),
                                  values_.data()};
    multiply_stencil<Types><<<spmv_blocks(y.rows), kSpmvThreads, 0, stream>>>(a, x, y, algebra_);
    CHECK_LAUNCH("multiply_stencil", stream);
  }
  std::uint64_t stored_bytes() const {
    return diagonals_.size_bytes() + masks_.size_bytes() + values_.size_bytes();
  }
  std::string choice() const {
    return std::to_string(diagonals_.size()) + " diagonals, " +
           std::to_string(diagonals_.size() - stored_) + " of them constant";
  }

 private:
  AlgebraFor<Number, Types::kIsPlusTimes> algebra_;
  Index cols_ = 0;
  Index stored_ = 0;
  Index mask_bytes_ = 1;
  DeviceBuffer<Diagonal<Number>> diagonals_;
  DeviceBuffer<unsigned char> masks_;
  DeviceBuffer<Value> values_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_stencil(const SpmmProblem& problem) {
  return typed_spmv<Stencil>(problem);
}

}  // namespace csrkit::gpu

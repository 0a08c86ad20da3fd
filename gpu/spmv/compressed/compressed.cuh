// compressed: slices with losslessly compressed columns and values.
// Owns     the slices of sell; of each step the lowest column (4 bytes for 32 entries); of each
//          entry a difference of 0, 1, 2 or 4 bytes, one width a slice; values as they are or,
//          where the matrix has at most 256 different ones, a code of one byte and a table
// Reads    what it owns once. A stencil with constant coefficients: 1 byte for a value, 0 to 2 for
//          a column, in the place of 12; with distinct values 8 + 0 to 2
// Launch   as sell
// Needs    steps with columns near each other; elsewhere it stores as much as sell Source
//          differences of columns: Kourtis, Goumas, Koziris: Optimizing sparse matrix-vector
//          multiplication using index and value compression, CF 2008; the layout, per step of a
//          slice with a base, is this file's own
// Against  sell, csr_balanced
#pragma once

#include "gpu/spmv/compressed/encode.h"
#include "gpu/spmv/slices/slice_product.cuh"

namespace csrkit::gpu {

namespace compressed {

/// What kernels see of the matrix.
template <class Value>
struct View {
  SlicesView slices;
  const CompressedSlice* headers;
  const Index* bases;
  const unsigned char* differences;
  const Value* values;         // null: codes, or all 1
  const unsigned char* codes;  // null: values, or all 1
  const Value* table;
};

/// The sum of a lane's row in a slice with differences of type Stored; void: none are stored.
template <class Stored, class Types, class Algebra>
__device__ typename Types::Number sum_of_slice(const View<typename Types::Value>& a,
                                               const CompressedSlice& slice,
                                               const SliceShare& share, int parts,
                                               const InputVector<typename Types::Vector>& x,
                                               const Algebra& algebra) {
  using Number = typename Types::Number;
  const Offset first = Offset{slice.first_step} * kSliceRows + share.lane;
  const auto entry_at = [&](Index step) {
    const Offset at = first + Offset{step} * kSliceRows;
    SliceEntry<Number> entry;
    const Index base = __ldg(a.bases + slice.first_step + step);
    if constexpr (std::is_void_v<Stored>) {
      entry.col = base + share.lane;
    } else {
      const auto* stored = reinterpret_cast<const Stored*>(
          a.differences + Offset{slice.differences_at} * kSliceRows);
      entry.col = column_behind(base, __ldcs(stored + Offset{step} * kSliceRows + share.lane));
    }
    entry.value = a.codes != nullptr
                      ? widen<Number>(load_kept<1>(a.table + __ldcs(a.codes + at)).item[0])
                      : value_of<Number>(a.values, at);
    return entry;
  };
  return sum_of_steps<Types>(share.part, parts, slice.width, x, algebra, entry_at);
}

template <class Types>
__global__ void __launch_bounds__(kSliceThreads, kSliceBlocks)
    multiply_compressed(View<typename Types::Value> a, int parts,
                        InputVector<typename Types::Vector> x, OutputUpdate<Types> y,
                        AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra) {
  using Number = typename Types::Number;
  const SliceShare share = slice_share(parts);
  const bool is_there = share.slice < a.slices.count;
  Number sum = algebra.empty_sum();
  if (is_there) {
    const CompressedSlice slice = a.headers[share.slice];
    switch (slice.bytes_of_a_difference) {  // uniform in the warp
      case 0: sum = sum_of_slice<void, Types>(a, slice, share, parts, x, algebra); break;
      case 1: sum = sum_of_slice<std::uint8_t, Types>(a, slice, share, parts, x, algebra); break;
      case 2: sum = sum_of_slice<std::uint16_t, Types>(a, slice, share, parts, x, algebra); break;
      default: sum = sum_of_slice<std::uint32_t, Types>(a, slice, share, parts, x, algebra);
    }
  }
  const Index row = is_there ? a.slices.row_of(share.slice, share.lane) : -1;
  store_slice<Types>(share, parts, row, sum, y, algebra);
}

}  // namespace compressed

template <class Types>
class Compressed {
  using Value = typename Types::Value;
  using Number = typename Types::Number;

 public:
  explicit Compressed(Semiring semiring) : algebra_(semiring) {}

  void convert(DeviceCsr a, DeviceMemory& memory) {
    const DeviceCsrView<void> view = a.view<void>();
    const int value_bytes = static_cast<int>(sizeof(Value));
    slices_ = Slices(view, memory);
    parts_ = warps_per_slice(slices_);
    require_short_rows("compressed", slices_.longest() / parts_, csr_bytes_of(a));
    columns_.measure(view, slices_, memory);
    table_.find(view.values, a.nnz(), value_bytes, memory);
    const int bytes_of_value = view.values == nullptr ? 0 : value_bytes;
    const bool has_codes = table_.size() > 0;
    bytes_ = compressed_bytes(slices_.view().count, slices_.steps(), columns_.difference_bytes(),
                              bytes_of_value, has_codes) +
             (slices_.is_sorted() ? static_cast<std::uint64_t>(a.rows()) * sizeof(Index) : 0);
    require_worthwhile("compressed", bytes_, csr_bytes_of(a));
    columns_.store(view, slices_, memory);
    values_ = DeviceBuffer<unsigned char>(
        memory, slices_.places() * (has_codes ? 1 : bytes_of_value), "values of slices");
    store_values(view, slices_, value_bytes, table_, values_.data(), memory.stream());
  }

  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    compressed::View<Value> a = {
        slices_.view(), columns_.slices(), columns_.bases(), columns_.differences(),
        nullptr,        nullptr,           nullptr};
    if (table_.size() > 0) {
      a.codes = values_.data();
      a.table = static_cast<const Value*>(table_.values());
    } else {
      a.values = reinterpret_cast<const Value*>(values_.data());
    }
    compressed::multiply_compressed<Types>
        <<<slice_blocks(slices_.view().count, parts_), kSliceThreads, 0, stream>>>(a, parts_, x, y,
                                                                                   algebra_);
    CHECK_LAUNCH("multiply_compressed", stream);
  }
  std::uint64_t stored_bytes() const { return bytes_; }
  std::string choice() const {
    return table_.size() > 0 ? std::to_string(table_.size()) + " different values" : std::string();
  }

 private:
  AlgebraFor<Number, Types::kIsPlusTimes> algebra_;
  Slices slices_;
  EncodedColumns columns_;
  ValueTable table_;
  DeviceBuffer<unsigned char> values_;
  std::uint64_t bytes_ = 0;
  int parts_ = 1;
};

}  // namespace csrkit::gpu

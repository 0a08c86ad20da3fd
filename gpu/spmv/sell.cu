// sell: SELL-C-sigma, 32 rows side by side, each lane of a warp one row.
// Owns     the slices: columns and values in the order in which lanes read them, and the order of
//          rows where sorting by length pays
// Reads    every stored entry once, a request of 32 lanes being 128 or 256 bytes in sequence
// Launch   one warp a slice, 2 to 8 where slices are few and long
// Needs    rows of like length, at least within windows of 4,096 rows: padding is stored and read.
//          Refused where it would be 16 times the matrix (MemoryError), or where the longest row
//          would take 16 times as long as A as CSR (UsageError)
// Source   Kreutzer et al. 2014, see slices/slices.h
// Against  csr_vector, ell; csr_balanced where lengths differ

#include "gpu/spmv/slices/slice_product.cuh"

namespace csrkit::gpu {

namespace {

/// One warp per slice; padding gets column -1 and value 0.
template <class Value>
__global__ void fill_slices(DeviceCsrView<Value> a, SlicesView slices, Index* cols, Value* values) {
  const SliceShare share = slice_share(1);
  if (share.slice >= slices.count) return;
  const Index row = slices.row_of(share.slice, share.lane);
  const Offset begin = row < 0 ? 0 : a.row_begin(row);
  const Offset length = row < 0 ? 0 : a.row_end(row) - begin;
  const Offset first = slices.first_step(share.slice);
  const Index width = slices.steps_of(share.slice);
  for (Index step = 0; step < width; ++step) {
    const Offset to = (first + step) * kSliceRows + share.lane;
    const bool is_there = step < length;
    cols[to] = is_there ? a.col_indices[begin + step] : -1;
    if (values != nullptr) values[to] = is_there ? a.values[begin + step] : Value{};
  }
}

template <class Types>
__global__ void __launch_bounds__(kSliceThreads, kSliceBlocks)
    multiply_slices(SlicesView slices, const Index* cols, const typename Types::Value* values,
                    int parts, InputVector<typename Types::Vector> x, OutputUpdate<Types> y,
                    AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra) {
  using Number = typename Types::Number;
  const SliceShare share = slice_share(parts);
  const bool is_there = share.slice < slices.count;
  const Offset first = is_there ? slices.first_step(share.slice) : 0;
  const Index width = is_there ? slices.steps_of(share.slice) : 0;
  const Offset base = first * kSliceRows + share.lane;
  const auto entry_at = [&](Index step) {
    const Offset at = base + Offset{step} * kSliceRows;
    return SliceEntry<Number>{load_once(cols + at), value_of<Number>(values, at)};
  };
  const Number sum = sum_of_steps<Types>(share.part, parts, width, x, algebra, entry_at);
  const Index row = is_there ? slices.row_of(share.slice, share.lane) : -1;
  store_slice<Types>(share, parts, row, sum, y, algebra);
}

template <class Types>
class Sell {
  using Value = typename Types::Value;
  using Number = typename Types::Number;

 public:
  explicit Sell(Semiring semiring) : algebra_(semiring) {}

  void convert(DeviceCsr a, DeviceMemory& memory) {
    slices_ = Slices(a.view<void>(), memory);
    const bool has_values = a.value_kind() != ValueKind::none;
    const std::uint64_t entry_bytes = sizeof(Index) + (has_values ? sizeof(Value) : 0);
    require_worthwhile("sell", static_cast<std::uint64_t>(slices_.places()) * entry_bytes,
                       csr_bytes_of(a));
    parts_ = warps_per_slice(slices_);
    require_short_rows("sell", slices_.longest() / parts_, csr_bytes_of(a));
    cols_ = DeviceBuffer<Index>(memory, slices_.places(), "columns of slices");
    if (has_values) values_ = DeviceBuffer<Value>(memory, slices_.places(), "values of slices");
    if (slices_.view().count == 0) return;
    const cudaStream_t stream = memory.stream();
    fill_slices<<<slice_blocks(slices_.view().count, 1), kSliceThreads, 0, stream>>>(
        a.view<Value>(), slices_.view(), cols_.data(), values_.data());
    CHECK_LAUNCH("fill_slices", stream);
  }

  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    multiply_slices<Types>
        <<<slice_blocks(slices_.view().count, parts_), kSliceThreads, 0, stream>>>(
            slices_.view(), cols_.data(), values_.data(), parts_, x, y, algebra_);
    CHECK_LAUNCH("multiply_slices", stream);
  }
  std::uint64_t stored_bytes() const {
    return slices_.bytes() + cols_.size_bytes() + values_.size_bytes();
  }
  std::string choice() const {
    return std::string(slices_.is_sorted() ? "rows sorted in windows" : "rows in their order") +
           ", " + std::to_string(parts_) + " warps a slice";
  }

 private:
  AlgebraFor<Number, Types::kIsPlusTimes> algebra_;
  Slices slices_;
  DeviceBuffer<Index> cols_;
  DeviceBuffer<Value> values_;
  int parts_ = 1;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_sell(const SpmmProblem& problem) {
  return typed_spmv<Sell>(problem);
}

}  // namespace csrkit::gpu

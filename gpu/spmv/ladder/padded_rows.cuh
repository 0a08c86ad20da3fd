// ELL, as the rungs ell and hyb have it: the first `width` entries of every row, step by step.
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spmv/device_spmv.h"

namespace csrkit::gpu {

/// Entry `step` of row r is element step * rows + r; column -1 is padding.
template <class Value>
struct PaddedRows {
  Index rows = 0;
  Index width = 0;
  const Index* cols = nullptr;
  const Value* values = nullptr;  // null: every entry is 1
};

namespace padded {

/// One thread per row.
template <class Value>
__global__ void fill(DeviceCsrView<Value> a, Index width, Index* cols, Value* values) {
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (at >= a.rows) return;
  const auto row = static_cast<Index>(at);
  const Offset begin = a.row_begin(row), length = a.row_end(row) - begin;
  for (Index step = 0; step < width; ++step) {
    const Offset to = Offset{step} * a.rows + row;
    cols[to] = step < length ? a.col_indices[begin + step] : -1;
    if (values != nullptr) values[to] = step < length ? a.values[begin + step] : Value{};
  }
}

/// One thread per row.
template <class Types>
__global__ void multiply(PaddedRows<typename Types::Value> a, InputVector<typename Types::Vector> x,
                         OutputUpdate<Types> y) {
  using Number = typename Types::Number;
  const Offset row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (row >= a.rows) return;
  Number sum = 0;
  for (Index step = 0; step < a.width; ++step) {
    const Offset at = Offset{step} * a.rows + row;
    const Index col = load_once(a.cols + at);
    const Number value = value_of<Number>(a.values, at);
    if (col >= 0) sum = fma(value, x.template at<Number>(col), sum);
  }
  y.store(static_cast<Index>(row), sum);
}

}  // namespace padded

/// The arrays, owned.
template <class Types>
class PaddedPart {
  using Value = typename Types::Value;

 public:
  static std::uint64_t bytes_for(const DeviceCsr& a, Offset width) {
    return static_cast<std::uint64_t>(a.rows()) * static_cast<std::uint64_t>(width) *
           (sizeof(Index) + static_cast<std::uint64_t>(size_of(a.value_kind())));
  }
  void make(const DeviceCsr& a, Index width, DeviceMemory& memory) {
    const Offset places = Offset{a.rows()} * width;
    width_ = width;
    cols_ = DeviceBuffer<Index>(memory, places, "columns of padded rows");
    if (a.value_kind() != ValueKind::none) {
      values_ = DeviceBuffer<Value>(memory, places, "values of padded rows");
    }
    if (places == 0) return;
    padded::fill<<<spmv_blocks(a.rows()), kSpmvThreads, 0, memory.stream()>>>(
        a.view<Value>(), width, cols_.data(), values_.data());
    CHECK_LAUNCH("padded::fill", memory.stream());
  }
  /// y = alpha * this * x + beta * y.
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    padded::multiply<Types><<<spmv_blocks(y.rows), kSpmvThreads, 0, stream>>>(
        {y.rows, width_, cols_.data(), values_.data()}, x, y);
    CHECK_LAUNCH("padded::multiply", stream);
  }
  Index width() const { return width_; }
  std::uint64_t bytes() const { return cols_.size_bytes() + values_.size_bytes(); }

 private:
  Index width_ = 0;
  DeviceBuffer<Index> cols_;
  DeviceBuffer<Value> values_;
};

}  // namespace csrkit::gpu

// dia: whole diagonals, without column indices.
// Owns     the offsets of the diagonals that have an entry; for each, a value for every row
// Reads    values only: 8 bytes an entry in the place of 12; x in sequence, no gather
// Launch   one thread per row
// Needs    few diagonals, well filled: refused (MemoryError) where the stored values would be 16
//          times the matrix. A gap in a diagonal is a stored 0, and 0 times infinity is NaN: that
//          is why this kernel does not declare infinities of x
// Source   Bell, Garland, SC 2009, "DIA"
// Against  ell on stencils

#include "gpu/device/cuda_check.h"
#include "gpu/spmv/device_spmv.h"
#include "gpu/spmv/diagonals.h"

namespace csrkit::gpu {

namespace {

/// One thread per row.
template <class Value>
__global__ void fill_diagonals(DeviceCsrView<Value> a, Diagonals::View diagonals, Value* values) {
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (at >= a.rows) return;
  const auto row = static_cast<Index>(at);
  for (Offset i = a.row_begin(row); i < a.row_end(row); ++i) {
    values[diagonals.rank_of(row, a.col_indices[i]) * a.rows + row] =
        a.values == nullptr ? Value{1} : a.values[i];
  }
}

template <class Types>
__global__ void multiply_diagonals(Index diagonals, const Index* offsets, Index cols,
                                   const typename Types::Value* values,
                                   InputVector<typename Types::Vector> x, OutputUpdate<Types> y) {
  using Number = typename Types::Number;
  const Offset row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (row >= y.rows) return;
  Number sum = 0;
  for (Index d = 0; d < diagonals; ++d) {
    const Offset col = row + offsets[d];
    const Number value = widen<Number>(load_once(values + Offset{d} * y.rows + row));
    if (col >= 0 && col < cols) {
      sum = fma(value, x.template at<Number>(static_cast<Index>(col)), sum);
    }
  }
  y.store(static_cast<Index>(row), sum);
}

template <class Types>
class Dia {
  using Value = typename Types::Value;

 public:
  explicit Dia(Semiring) {}
  void convert(DeviceCsr a, DeviceMemory& memory) {
    const cudaStream_t stream = memory.stream();
    cols_ = a.cols();
    if (a.nnz() == 0) return;
    Diagonals found = find_diagonals(a.view<void>(), a.nnz(), memory);
    const Offset count = found.count;
    require_worthwhile(
        "dia",
        static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(a.rows()) * sizeof(Value),
        csr_bytes_of(a));
    values_ = DeviceBuffer<Value>(memory, count * a.rows(), "values of diagonals");
    CHECK_CUDA(cudaMemsetAsync(values_.data(), 0, values_.size_bytes(), stream));
    fill_diagonals<<<spmv_blocks(a.rows()), kSpmvThreads, 0, stream>>>(
        a.view<Value>(), found.view(a.rows()), values_.data());
    CHECK_LAUNCH("fill_diagonals", stream);
    offsets_ = std::move(found.offsets);
  }
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    multiply_diagonals<Types><<<spmv_blocks(y.rows), kSpmvThreads, 0, stream>>>(
        static_cast<Index>(offsets_.size()), offsets_.data(), cols_, values_.data(), x, y);
    CHECK_LAUNCH("multiply_diagonals", stream);
  }
  std::uint64_t stored_bytes() const { return offsets_.size_bytes() + values_.size_bytes(); }
  std::string choice() const { return std::to_string(offsets_.size()) + " diagonals"; }

 private:
  Index cols_ = 0;
  DeviceBuffer<Index> offsets_;
  DeviceBuffer<Value> values_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_dia(const SpmmProblem& problem) {
  return typed_ladder_spmv<Dia>(problem);
}

}  // namespace csrkit::gpu

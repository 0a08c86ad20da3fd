// csr_scalar: one thread computes one element of y.
// Owns     nothing: A is used as it lies
// Reads    columns and values once, but lanes of a warp are a row apart: a request touches up to 32
//          sectors and uses 4 or 8 bytes of each; what L1 keeps decides. Where rows have one to
//          three entries, lanes read neighbours
// Launch   rows threads; a warp takes as long as its longest row (divergence)
// Needs    short rows of like length. Refused where the longest would take 16 times as long as A
//          as CSR (UsageError)
// Source   Bell, Garland: Implementing sparse matrix-vector multiplication on throughput-oriented
//          processors, SC 2009, "CSR (scalar)"
// Against  csr_vector, which reads the same bytes coalesced; jagged and sell, which copy A

#include "gpu/device/cuda_check.h"
#include "gpu/spmv/device_spmv.h"
#include "gpu/spmv/row_lengths.h"

namespace csrkit::gpu {

namespace {

template <class Types>
__global__ void multiply_row_per_thread(
    DeviceCsrView<typename Types::Value> a, InputVector<typename Types::Vector> x,
    OutputUpdate<Types> y, AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra) {
  using Number = typename Types::Number;
  const Offset row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (row >= a.rows) return;
  Number sum = algebra.empty_sum();
  const Offset end = a.row_end(static_cast<Index>(row));
  for (Offset at = a.row_begin(static_cast<Index>(row)); at < end; ++at) {
    const Number value =
        a.values == nullptr ? Number{1} : widen<Number>(load_kept<1>(a.values + at).item[0]);
    sum = algebra.add_product(sum, value, x.template at<Number>(__ldg(a.col_indices + at)));
  }
  y.store(static_cast<Index>(row), sum);
}

template <class Types>
class CsrScalar {
 public:
  explicit CsrScalar(Semiring semiring) : algebra_(semiring) {}
  void convert(DeviceCsr a, DeviceMemory& memory) {
    // Neighbours in a row lie in L1, so a step takes a fourth of one in slices.
    constexpr Offset kStepsAtOnce = 4;
    require_short_rows("csr_scalar", longest_row(a.view<void>(), memory) / kStepsAtOnce,
                       csr_bytes_of(a));
    a_ = std::move(a);
  }
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    multiply_row_per_thread<Types><<<spmv_blocks(y.rows), kSpmvThreads, 0, stream>>>(
        a_.view<typename Types::Value>(), x, y, algebra_);
    CHECK_LAUNCH("multiply_row_per_thread", stream);
  }
  std::uint64_t stored_bytes() const { return csr_bytes_of(a_); }
  std::string choice() const { return {}; }

 private:
  AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra_;
  DeviceCsr a_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_csr_scalar(const SpmmProblem& problem) {
  return typed_spmv<CsrScalar>(problem);
}

}  // namespace csrkit::gpu

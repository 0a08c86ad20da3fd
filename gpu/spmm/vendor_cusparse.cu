// vendor_cusparse: cusparseSpMM on row-major operands, with its fastest algorithm.
// Owns     nothing: the vendor's kernels decide
// Reads    A as it lies, 32-bit offsets; an A without values gets an array of ones, counted as
//          memory
// Launch   at the first bind every CSR algorithm gets its own descriptor, buffer and preprocess
//          step, is run once to warm up and then timed; the fastest stays. All of this is analysis
//          time.
// Needs    nnz below 2^31: the library wants offsets and columns of equal width, and columns are
//          32-bit here. Refused with a reason otherwise. Seen with cuSPARSE 12.6 and therefore not
//          declared: subnormals become 0, an infinity may become NaN, a C of 16 bits is off by more
//          than its rounding, operands off 16-byte boundaries fault.
// Against  our own kernels; the same operands, the same stream, the same clock.

#include "gpu/device/cusparse.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;

// C = beta * C, for an A without entries, which the library does not take.
template <class Output, class Number>
__global__ void scale_output(DeviceDenseView<Output> c, Number beta) {
  const Offset element = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (element >= Offset{c.rows} * c.cols) return;
  Output* to = c.data + element / c.cols * c.leading_dim + element % c.cols;
  *to = Narrow<Output>::of(beta == 0 ? Number{0} : beta * widen<Number>(*to));
}

struct Algorithm {
  cusparseSpMMAlg_t id;
  const char* name;
};
constexpr Algorithm kAlgorithms[] = {{CUSPARSE_SPMM_CSR_ALG1, "CSR_ALG1"},
                                     {CUSPARSE_SPMM_CSR_ALG2, "CSR_ALG2"},
                                     {CUSPARSE_SPMM_CSR_ALG3, "CSR_ALG3"}};

/// The library's descriptor of a dense operand.
class Dense {
 public:
  Dense() = default;
  ~Dense() {
    if (descriptor_ != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroyDnMat(descriptor_));
  }
  Dense(const Dense&) = delete;
  Dense& operator=(const Dense&) = delete;

  cusparseDnMatDescr_t of(const ConstDenseView& view) {
    void* data = const_cast<void*>(view.data);
    if (descriptor_ == nullptr || leading_dim_ != view.leading_dim) {
      if (descriptor_ != nullptr) CHECK_CUSPARSE(cusparseDestroyDnMat(descriptor_));
      descriptor_ = nullptr;
      CHECK_CUSPARSE(cusparseCreateDnMat(&descriptor_, view.rows, view.cols, view.leading_dim, data,
                                         cuda_type_of(view.kind), CUSPARSE_ORDER_ROW));
      leading_dim_ = view.leading_dim;
    } else if (data_ != data) {
      CHECK_CUSPARSE(cusparseDnMatSetValues(descriptor_, data));
    }
    data_ = data;
    return descriptor_;
  }
  Offset leading_dim() const { return leading_dim_; }

 private:
  cusparseDnMatDescr_t descriptor_ = nullptr;
  void* data_ = nullptr;
  Offset leading_dim_ = 0;
};

using Trials = CusparseTrials<Algorithm>;

class Cusparse final : public DeviceSpmm {
 public:
  explicit Cusparse(const SpmmProblem& problem)
      : a_kind_(problem.a.value_kind()),
        b_kind_(problem.b),
        accumulate_(problem.accumulate),
        operation_(problem.transpose_a ? CUSPARSE_OPERATION_TRANSPOSE
                                       : CUSPARSE_OPERATION_NON_TRANSPOSE) {
    require_cusparse_size(problem.a.nnz());
  }

  bool transposes() const override { return true; }

  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const override {
    return a_kind_ == ValueKind::none ? static_cast<std::uint64_t>(sizes.nnz) * size_of(b_kind_)
                                      : 0;
  }

  void analyse(const DeviceCsrView<void>& a, const SpmmSizes&, void* workspace,
               cudaStream_t stream) override {
    require_cusparse_offsets(a);
    handle_.set_stream(stream);
    if (a_kind_ != ValueKind::none) return;
    ones_ = workspace;
    fill_ones(b_kind_, ones_, a.nnz, stream);
  }

  // The choice of algorithm holds for one layout of the operands.
  bool wants_trials(const ConstDenseView& b, const DenseView& c) const override {
    return trials_.best() == nullptr || b.leading_dim != b_.leading_dim() ||
           c.leading_dim != c_.leading_dim();
  }

  void run_trials(const DeviceCsrView<void>& a, const ConstDenseView& b, const DenseView& scratch,
                  DeviceMemory& memory) override {
    if (a.nnz == 0 || scratch.rows == 0) return;
    trials_ = {};
    for (const Algorithm& algorithm : kAlgorithms) {
      // The library does not support a transposed A there, and writes a complaint to stdout.
      const bool is_transposed = operation_ != CUSPARSE_OPERATION_NON_TRANSPOSE;
      if (is_transposed && algorithm.id == CUSPARSE_SPMM_CSR_ALG3) continue;
      trials_.add(algorithm, [&](Trials::Candidate& candidate) {
        return try_out(candidate, a, b, scratch, memory);
      });
    }
    trials_.require_one();
  }

  void launch(const DeviceCsrView<void>& a, const ConstDenseView& b, const DenseView& c,
              double alpha, double beta, void*, cudaStream_t stream) override {
    if (c.rows == 0) return;
    if (a.nnz == 0) return scale(c, beta, stream);
    handle_.set_stream(stream);
    CHECK_CUSPARSE(multiply(*trials_.best(), b, c, alpha, beta));
  }

  std::string choice() const override { return trials_.choice(); }

 private:
  cusparseStatus_t multiply(const Trials::Candidate& with, const ConstDenseView& b,
                            const DenseView& c, double alpha, double beta) {
    const CusparseScalar scale(alpha, accumulate_), keep(beta, accumulate_);
    return cusparseSpMM(handle_.get(), operation_, CUSPARSE_OPERATION_NON_TRANSPOSE, scale.get(),
                        with.a->get(), b_.of(b), keep.get(), c_.of(c), cuda_type_of(accumulate_),
                        with.algorithm->id, with.buffer.data());
  }

  cusparseStatus_t try_out(Trials::Candidate& candidate, DeviceCsrView<void> a,
                           const ConstDenseView& b, const DenseView& scratch,
                           DeviceMemory& memory) {
    const CusparseScalar one(1, accumulate_), zero(0, accumulate_);
    const cudaDataType compute = cuda_type_of(accumulate_);
    const cusparseSpMMAlg_t id = candidate.algorithm->id;
    handle_.set_stream(memory.stream());
    if (a_kind_ == ValueKind::none) a.values = ones_;
    candidate.a = std::make_unique<CusparseMatrix>(a, b_kind_);
    std::size_t bytes = 0;
    cusparseStatus_t status = cusparseSpMM_bufferSize(
        handle_.get(), operation_, CUSPARSE_OPERATION_NON_TRANSPOSE, one.get(), candidate.a->get(),
        b_.of(b), zero.get(), c_.of(scratch), compute, id, &bytes);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    candidate.buffer = cusparse_buffer(memory, bytes);
    status = cusparseSpMM_preprocess(handle_.get(), operation_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                     one.get(), candidate.a->get(), b_.of(b), zero.get(),
                                     c_.of(scratch), compute, id, candidate.buffer.data());
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    const auto run = [&] { return multiply(candidate, b, scratch, 1, 0); };
    status = run();  // loads code, fills caches
    if (status == CUSPARSE_STATUS_SUCCESS) {
      candidate.seconds = least_seconds(memory.stream(), run);
    }
    return status;
  }

  void scale(const DenseView& c, double beta, cudaStream_t stream) const {
    const Offset blocks = (Offset{c.rows} * c.cols + kThreads - 1) / kThreads;
    if (blocks > kMaxIndex) throw UsageError("vendor_cusparse: C has too many elements for a grid");
    const auto grid = static_cast<unsigned>(blocks);
    const auto scaled = [&](auto output, auto number) {
      using Output = typename decltype(output)::type;
      using Number = typename decltype(number)::type;
      const DeviceDenseView<Output> view = {c.as<Output>(), c.rows, c.cols, c.leading_dim};
      scale_output<<<grid, kThreads, 0, stream>>>(view, static_cast<Number>(beta));
      CHECK_LAUNCH("scale_output", stream);
    };
    switch (c.kind) {
      case ValueKind::f64: return scaled(TypeTag<double>{}, TypeTag<double>{});
      case ValueKind::f16: return scaled(TypeTag<f16>{}, TypeTag<float>{});
      case ValueKind::bf16: return scaled(TypeTag<bf16>{}, TypeTag<float>{});
      default: return scaled(TypeTag<float>{}, TypeTag<float>{});
    }
  }

  ValueKind a_kind_, b_kind_, accumulate_;
  cusparseOperation_t operation_;
  void* ones_ = nullptr;  // values of an A without values
  CusparseHandle handle_;
  Dense b_, c_;
  Trials trials_;
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_vendor_cusparse(const SpmmProblem& problem) {
  return std::make_unique<Cusparse>(problem);
}

}  // namespace csrkit::gpu

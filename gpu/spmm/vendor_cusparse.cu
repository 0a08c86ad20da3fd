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

#include <algorithm>
#include <cstdio>
#include <vector>

#include "gpu/device/cuda_check.h"
#include "gpu/device/gpu_timer.h"
#include "gpu/device/head_start.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;

template <class Value>
__global__ void fill_ones(Value* values, Offset count) {
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (at < count) values[at] = Narrow<Value>::of(1);
}

// C = beta * C, for an A without entries, which the library does not take.
template <class Output, class Number>
__global__ void scale_output(DeviceDenseView<Output> c, Number beta) {
  const Offset element = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (element >= Offset{c.rows} * c.cols) return;
  Output* to = c.data + element / c.cols * c.leading_dim + element % c.cols;
  *to = Narrow<Output>::of(beta == 0 ? Number{0} : beta * widen<Number>(*to));
}

cudaDataType cuda_type_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::f64: return CUDA_R_64F;
    case ValueKind::f16: return CUDA_R_16F;
    case ValueKind::bf16: return CUDA_R_16BF;
    default: return CUDA_R_32F;
  }
}

struct Algorithm {
  cusparseSpMMAlg_t id;
  const char* name;
};
constexpr Algorithm kAlgorithms[] = {{CUSPARSE_SPMM_CSR_ALG1, "CSR_ALG1"},
                                     {CUSPARSE_SPMM_CSR_ALG2, "CSR_ALG2"},
                                     {CUSPARSE_SPMM_CSR_ALG3, "CSR_ALG3"}};
constexpr int kTimedRuns = 3;

class Handle {
 public:
  Handle() { CHECK_CUSPARSE(cusparseCreate(&handle_)); }
  ~Handle() { CHECK_CUSPARSE_NOEXCEPT(cusparseDestroy(handle_)); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  cusparseHandle_t get() const { return handle_; }

 private:
  cusparseHandle_t handle_ = nullptr;
};

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

/// One algorithm, with the descriptor and buffer that its preprocess step fills.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  cusparseSpMatDescr_t a = nullptr;
  DeviceBuffer<std::byte> buffer;
  double seconds = 0;

  Candidate() = default;
  ~Candidate() {
    if (a != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroySpMat(a));
  }
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;
};

class Cusparse final : public DeviceSpmm {
 public:
  explicit Cusparse(const SpmmProblem& problem)
      : a_kind_(problem.a.value_kind()),
        b_kind_(problem.b),
        accumulate_(problem.accumulate),
        operation_(problem.transpose_a ? CUSPARSE_OPERATION_TRANSPOSE
                                       : CUSPARSE_OPERATION_NON_TRANSPOSE) {
    if (problem.a.nnz() > kMaxIndex) {
      throw UsageError("vendor_cusparse: A has " + std::to_string(problem.a.nnz()) +
                       " nonzeros; beyond 2^31 - 1 cuSPARSE wants 64-bit columns, and ours have 32 "
                       "bits; use another kernel");
    }
  }

  bool transposes() const override { return true; }

  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const override {
    return a_kind_ == ValueKind::none ? static_cast<std::uint64_t>(sizes.nnz) * size_of(b_kind_)
                                      : 0;
  }

  void analyse(const DeviceCsrView<void>& a, const SpmmSizes&, void* workspace,
               cudaStream_t stream) override {
    if (a.row_offsets.narrow == nullptr || a.base != 0) {
      throw UsageError("vendor_cusparse: cuSPARSE wants 32-bit row offsets that start at 0");
    }
    handle_ = std::make_unique<Handle>();
    values_ = const_cast<void*>(a.values);
    if (a_kind_ != ValueKind::none || a.nnz == 0) return;
    values_ = workspace;
    const auto blocks = static_cast<unsigned>((a.nnz + kThreads - 1) / kThreads);
    with_value_type(b_kind_, [&](auto tag) {
      using Value = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<Value, ImplicitOne>) {
        fill_ones<<<blocks, kThreads, 0, stream>>>(static_cast<Value*>(workspace), a.nnz);
        CHECK_LAUNCH("fill_ones", stream);
      }
    });
  }

  // The choice of algorithm holds for one layout of the operands.
  bool wants_trials(const ConstDenseView& b, const DenseView& c) const override {
    return !best_ || b.leading_dim != b_.leading_dim() || c.leading_dim != c_.leading_dim();
  }

  void run_trials(const DeviceCsrView<void>& a, const ConstDenseView& b, const DenseView& scratch,
                  DeviceMemory& memory) override {
    if (a.nnz == 0 || scratch.rows == 0) return;
    best_.reset();
    tried_.clear();
    for (const Algorithm& algorithm : kAlgorithms) {
      // The library does not support a transposed A there, and writes a complaint to stdout.
      const bool is_transposed = operation_ != CUSPARSE_OPERATION_NON_TRANSPOSE;
      if (is_transposed && algorithm.id == CUSPARSE_SPMM_CSR_ALG3) continue;
      auto candidate = std::make_unique<Candidate>();
      candidate->algorithm = &algorithm;
      const cusparseStatus_t status = try_out(*candidate, a, b, scratch, memory);
      tried_ += (tried_.empty() ? "" : ", ") + std::string(algorithm.name) + " ";
      if (status != CUSPARSE_STATUS_SUCCESS) {
        tried_ += std::string("refused with ") + cusparseGetErrorName(status);
        continue;
      }
      char text[32];
      std::snprintf(text, sizeof text, "%.1f us", candidate->seconds * 1e6);
      tried_ += text;
      if (!best_ || candidate->seconds < best_->seconds) best_ = std::move(candidate);
    }
    if (!best_) throw UsageError("vendor_cusparse: no algorithm takes this product: " + tried_);
  }

  void launch(const DeviceCsrView<void>& a, const ConstDenseView& b, const DenseView& c,
              double alpha, double beta, void*, cudaStream_t stream) override {
    if (c.rows == 0) return;
    if (a.nnz == 0) return scale(c, beta, stream);
    CHECK_CUSPARSE(cusparseSetStream(handle_->get(), stream));
    CHECK_CUSPARSE(multiply(*best_, b, c, alpha, beta));
  }

  std::string choice() const override {
    return best_ ? std::string(best_->algorithm->name) + " (" + tried_ + ")" : std::string();
  }

 private:
  /// alpha and beta in the type that the library wants to find behind the pointers.
  struct Scalar {
    Scalar(double value, ValueKind kind)
        : f32(static_cast<float>(value)), f64(value), kind_(kind) {}
    const void* get() const {
      return kind_ == ValueKind::f64 ? static_cast<const void*>(&f64) : &f32;
    }
    float f32;
    double f64;
    ValueKind kind_;
  };

  cusparseStatus_t multiply(const Candidate& with, const ConstDenseView& b, const DenseView& c,
                            double alpha, double beta) {
    const Scalar scale(alpha, accumulate_), keep(beta, accumulate_);
    return cusparseSpMM(handle_->get(), operation_, CUSPARSE_OPERATION_NON_TRANSPOSE, scale.get(),
                        with.a, b_.of(b), keep.get(), c_.of(c), cuda_type_of(accumulate_),
                        with.algorithm->id, with.buffer.data());
  }

  // A refusal is recorded; a failure of the device is thrown.
  cusparseStatus_t try_out(Candidate& candidate, const DeviceCsrView<void>& a,
                           const ConstDenseView& b, const DenseView& scratch,
                           DeviceMemory& memory) {
    const cudaStream_t stream = memory.stream();
    const Scalar one(1, accumulate_), zero(0, accumulate_);
    const cudaDataType compute = cuda_type_of(accumulate_);
    CHECK_CUSPARSE(cusparseSetStream(handle_->get(), stream));
    CHECK_CUSPARSE(cusparseCreateCsr(
        &candidate.a, a.rows, a.cols, a.nnz, const_cast<std::uint32_t*>(a.row_offsets.narrow),
        const_cast<Index*>(a.col_indices), values_, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
        CUSPARSE_INDEX_BASE_ZERO, cuda_type_of(b_kind_)));
    std::size_t bytes = 0;
    cusparseStatus_t status = cusparseSpMM_bufferSize(
        handle_->get(), operation_, CUSPARSE_OPERATION_NON_TRANSPOSE, one.get(), candidate.a,
        b_.of(b), zero.get(), c_.of(scratch), compute, candidate.algorithm->id, &bytes);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    candidate.buffer = DeviceBuffer<std::byte>(
        memory, std::max<Offset>(1, static_cast<Offset>(bytes)), "the buffer of cuSPARSE");
    status = cusparseSpMM_preprocess(handle_->get(), operation_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                     one.get(), candidate.a, b_.of(b), zero.get(), c_.of(scratch),
                                     compute, candidate.algorithm->id, candidate.buffer.data());
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    status = multiply(candidate, b, scratch, 1, 0);  // loads code, fills caches
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    CHECK_CUDA(cudaStreamSynchronize(stream));
    GpuTimer timer;
    for (int run = 0; run < kTimedRuns; ++run) {
      give_head_start(stream);
      timer.start(stream);
      CHECK_CUSPARSE(multiply(candidate, b, scratch, 1, 0));
      timer.stop(stream);
      const double seconds = timer.seconds();
      candidate.seconds = run == 0 ? seconds : std::min(candidate.seconds, seconds);
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
  void* values_ = nullptr;
  std::unique_ptr<Handle> handle_;
  Dense b_, c_;
  std::unique_ptr<Candidate> best_;
  std::string tried_;
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_vendor_cusparse(const SpmmProblem& problem) {
  return std::make_unique<Cusparse>(problem);
}

}  // namespace csrkit::gpu

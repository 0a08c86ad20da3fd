// vendor_cusparse: cusparseSDDMM on row-major operands, after its preprocess step.
// Owns     nothing: the vendor's kernels decide
// Reads    A as it lies, 32-bit offsets
// Launch   buffer and preprocess step in every bind
// Needs    nnz below 2^31: the library wants offsets and columns of equal width, and columns are
//          32-bit here. cuSPARSE does not multiply by A's values; operands of 16 bits are not
//          offered here
// Against  our own kernels; the same operands, the same stream, the same clock

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/sddmm/plan.h"

namespace csrkit::gpu::sddmm {

namespace {

class Cusparse final : public DeviceSddmm {
 public:
  explicit Cusparse(const SddmmProblem& problem) : is_f64_(problem.x == ValueKind::f64) {
    if (problem.a.nnz() > kMaxIndex) {
      throw UsageError("vendor_cusparse: A has " + std::to_string(problem.a.nnz()) +
                       " nonzeros; beyond 2^31 - 1 cuSPARSE wants 64-bit columns, and ours have 32 "
                       "bits; use another kernel");
    }
  }
  ~Cusparse() override {
    forget();
    if (handle_ != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroy(handle_));
  }
  Cusparse(const Cusparse&) = delete;
  Cusparse& operator=(const Cusparse&) = delete;

  void analyse(const DeviceCsrView<void>& a, void*, cudaStream_t) override {
    if (a.row_offsets.narrow == nullptr) {
      throw UsageError("vendor_cusparse: cuSPARSE wants 32-bit row offsets");
    }
    CHECK_CUSPARSE(cusparseCreate(&handle_));
  }

  void prepare(const DeviceCsrView<void>& a, const DeviceCall& call,
               DeviceMemory& memory) override {
    forget();
    CHECK_CUSPARSE(cusparseSetStream(handle_, memory.stream()));
    CHECK_CUSPARSE(cusparseCreateCsr(
        &c_, a.rows, a.cols, a.nnz, const_cast<std::uint32_t*>(a.row_offsets.narrow),
        const_cast<Index*>(a.col_indices), call.c.data, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
        CUSPARSE_INDEX_BASE_ZERO, type()));
    create(&x_, call.x);
    create(&y_, call.y);
    std::size_t bytes = 0;
    const Scalar one(1), zero(0);
    CHECK_CUSPARSE(cusparseSDDMM_bufferSize(
        handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, one.of(is_f64_),
        x_, y_, zero.of(is_f64_), c_, type(), CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
    buffer_ = {};
    buffer_ = DeviceBuffer<std::byte>(memory, std::max<Offset>(1, static_cast<Offset>(bytes)),
                                      "the buffer of cuSPARSE");
    CHECK_CUSPARSE(cusparseSDDMM_preprocess(
        handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, one.of(is_f64_),
        x_, y_, zero.of(is_f64_), c_, type(), CUSPARSE_SDDMM_ALG_DEFAULT, buffer_.data()));
    CHECK_CUDA(cudaStreamSynchronize(memory.stream()));
  }

  void launch(const DeviceCsrView<void>&, const DeviceCall& call, const void*,
              cudaStream_t stream) override {
    if (call.beta == 0) {  // the library may still read C, which may hold NaN
      CHECK_CUDA(cudaMemsetAsync(
          call.c.data, 0,
          static_cast<std::size_t>(call.c.size) * static_cast<std::size_t>(size_of(call.c.kind)),
          stream));
    }
    const Scalar alpha(call.alpha), beta(call.beta);
    CHECK_CUSPARSE(cusparseSetStream(handle_, stream));
    CHECK_CUSPARSE(cusparseSDDMM(
        handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, alpha.of(is_f64_),
        x_, y_, beta.of(is_f64_), c_, type(), CUSPARSE_SDDMM_ALG_DEFAULT, buffer_.data()));
  }

 private:
  /// alpha or beta in the type that the library expects behind the pointer.
  struct Scalar {
    explicit Scalar(double value) : f32(static_cast<float>(value)), f64(value) {}
    const void* of(bool is_f64) const { return is_f64 ? static_cast<const void*>(&f64) : &f32; }
    float f32;
    double f64;
  };

  cudaDataType type() const { return is_f64_ ? CUDA_R_64F : CUDA_R_32F; }

  void create(cusparseDnMatDescr_t* descriptor, const ConstDenseView& view) const {
    CHECK_CUSPARSE(cusparseCreateDnMat(descriptor, view.rows, view.cols, view.leading_dim,
                                       const_cast<void*>(view.data), type(), CUSPARSE_ORDER_ROW));
  }

  void forget() {
    if (c_ != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroySpMat(c_));
    if (x_ != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroyDnMat(x_));
    if (y_ != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroyDnMat(y_));
    c_ = nullptr;
    x_ = y_ = nullptr;
  }

  bool is_f64_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t c_ = nullptr;
  cusparseDnMatDescr_t x_ = nullptr, y_ = nullptr;
  DeviceBuffer<std::byte> buffer_;
};

}  // namespace

std::unique_ptr<DeviceSddmm> make_device_vendor_cusparse(const SddmmProblem& problem) {
  return std::make_unique<Cusparse>(problem);
}

}  // namespace csrkit::gpu::sddmm

// vendor_cusparse: cusparseSDDMM on row-major operands, after its preprocess step.
// Owns     nothing: the vendor's kernels decide
// Reads    A as it lies, 32-bit offsets
// Launch   buffer and preprocess step in every bind
// Needs    nnz below 2^31: the library wants offsets and columns of equal width, and columns are
//          32-bit here. cuSPARSE does not multiply by A's values; operands of 16 bits are not
//          offered here
// Against  our own kernels; the same operands, the same stream, the same clock

#include "gpu/device/cusparse.h"
#include "gpu/sddmm/plan.h"

namespace csrkit::gpu::sddmm {

namespace {

class Cusparse final : public DeviceSddmm {
 public:
  explicit Cusparse(const SddmmProblem& problem) : kind_(problem.x) {
    require_cusparse_size(problem.a.nnz());
  }
  ~Cusparse() override { forget(); }
  Cusparse(const Cusparse&) = delete;
  Cusparse& operator=(const Cusparse&) = delete;

  void analyse(const DeviceCsrView<void>& a, void*, cudaStream_t stream) override {
    require_cusparse_offsets(a);
    handle_.set_stream(stream);
  }

  void prepare(const DeviceCsrView<void>& a, const DeviceCall& call,
               DeviceMemory& memory) override {
    forget();
    handle_.set_stream(memory.stream());
    DeviceCsrView<void> c = a;
    c.values = call.c.data;
    c_ = std::make_unique<CusparseMatrix>(c, kind_);
    create(&x_, call.x);
    create(&y_, call.y);
    std::size_t bytes = 0;
    const CusparseScalar one(1, kind_), zero(0, kind_);
    CHECK_CUSPARSE(cusparseSDDMM_bufferSize(
        handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, one.get(),
        x_, y_, zero.get(), c_->get(), cuda_type_of(kind_), CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
    buffer_ = {};
    buffer_ = cusparse_buffer(memory, bytes);
    CHECK_CUSPARSE(cusparseSDDMM_preprocess(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                            CUSPARSE_OPERATION_TRANSPOSE, one.get(), x_, y_,
                                            zero.get(), c_->get(), cuda_type_of(kind_),
                                            CUSPARSE_SDDMM_ALG_DEFAULT, buffer_.data()));
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
    const CusparseScalar alpha(call.alpha, kind_), beta(call.beta, kind_);
    handle_.set_stream(stream);
    CHECK_CUSPARSE(cusparseSDDMM(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                 CUSPARSE_OPERATION_TRANSPOSE, alpha.get(), x_, y_, beta.get(),
                                 c_->get(), cuda_type_of(kind_), CUSPARSE_SDDMM_ALG_DEFAULT,
                                 buffer_.data()));
  }

 private:
  void create(cusparseDnMatDescr_t* descriptor, const ConstDenseView& view) const {
    CHECK_CUSPARSE(cusparseCreateDnMat(descriptor, view.rows, view.cols, view.leading_dim,
                                       const_cast<void*>(view.data), cuda_type_of(kind_),
                                       CUSPARSE_ORDER_ROW));
  }

  void forget() {
    if (x_ != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroyDnMat(x_));
    if (y_ != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroyDnMat(y_));
    c_.reset();
    x_ = y_ = nullptr;
  }

  ValueKind kind_;
  CusparseHandle handle_;
  std::unique_ptr<CusparseMatrix> c_;
  cusparseDnMatDescr_t x_ = nullptr, y_ = nullptr;
  DeviceBuffer<std::byte> buffer_;
};

}  // namespace

std::unique_ptr<DeviceSddmm> make_device_vendor_cusparse(const SddmmProblem& problem) {
  return std::make_unique<Cusparse>(problem);
}

}  // namespace csrkit::gpu::sddmm

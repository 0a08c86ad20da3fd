// vendor_cusparse: cusparseSpMV, and cusparseSpMM with one column, with the fastest algorithm.
// Owns     a row index for every entry, for the COO algorithms; ones, where A has no values
// Reads    A as it lies, 32-bit offsets
// Launch   at the first bind every algorithm gets its own descriptor, buffer and preprocess step,
//          is run once to warm up and then timed; the fastest stays. All of this is analysis time
// Needs    nnz below 2^31 and packed vectors. Not declared: what SpMM's row of the same name does
//          not declare either (subnormals, infinities, 16-bit results, alignment)
// Against  our own kernels; the same operands, the same stream, the same clock

#include "gpu/device/cusparse.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/device_spmv.h"

namespace csrkit::gpu {

namespace {

/// One warp per row.
__global__ void fill_rows(DeviceCsrView<void> a, Index* rows) {
  const Offset row = (Offset{blockIdx.x} * kSpmvThreads + threadIdx.x) / kWarpLanes;
  if (row >= a.rows) return;
  const Offset end = a.row_end(static_cast<Index>(row));
  for (Offset at = a.row_begin(static_cast<Index>(row)) + threadIdx.x % kWarpLanes; at < end;
       at += kWarpLanes) {
    rows[at] = static_cast<Index>(row);
  }
}

/// y = beta * y, for an A without entries, which the library does not take.
template <class Types>
__global__ void scale_vector(OutputUpdate<Types> y) {
  const Offset row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (row < y.rows) y.store(static_cast<Index>(row), 0);
}

struct Algorithm {
  const char* name;
  bool is_coo;
  bool is_spmm;
  int id;
};
constexpr Algorithm kAlgorithms[] = {
    {"SpMV CSR_ALG1", false, false, CUSPARSE_SPMV_CSR_ALG1},
    {"SpMV CSR_ALG2", false, false, CUSPARSE_SPMV_CSR_ALG2},
    {"SpMV COO_ALG1", true, false, CUSPARSE_SPMV_COO_ALG1},
    {"SpMV COO_ALG2", true, false, CUSPARSE_SPMV_COO_ALG2},
    {"SpMM CSR_ALG1", false, true, CUSPARSE_SPMM_CSR_ALG1},
    {"SpMM CSR_ALG2", false, true, CUSPARSE_SPMM_CSR_ALG2},
};

/// x or y, as a vector and as a matrix of one column.
struct Vector {
  cusparseDnVecDescr_t vector = nullptr;
  cusparseDnMatDescr_t matrix = nullptr;

  explicit Vector(const ConstDenseView& view) {
    void* data = const_cast<void*>(view.data);
    const cudaDataType type = cuda_type_of(view.kind);
    CHECK_CUSPARSE(cusparseCreateDnVec(&vector, view.rows, data, type));
    CHECK_CUSPARSE(cusparseCreateDnMat(&matrix, view.rows, 1, 1, data, type, CUSPARSE_ORDER_ROW));
  }
  ~Vector() {
    if (matrix != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroyDnMat(matrix));
    if (vector != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroyDnVec(vector));
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  void point_to(void* data) const {
    CHECK_CUSPARSE(cusparseDnVecSetValues(vector, data));
    CHECK_CUSPARSE(cusparseDnMatSetValues(matrix, data));
  }
};

using Trials = CusparseTrials<Algorithm>;

class Cusparse final : public DeviceSpmv {
 public:
  explicit Cusparse(const SpmmProblem& problem)
      : kind_(problem.b),
        accumulate_(problem.accumulate),
        operation_(problem.transpose_a ? CUSPARSE_OPERATION_TRANSPOSE
                                       : CUSPARSE_OPERATION_NON_TRANSPOSE) {
    require_cusparse_size(problem.a.nnz());
  }

  bool transposes() const override { return true; }

  void convert(DeviceCsr a, DeviceMemory& memory) override {
    a_ = std::move(a);
    view_ = a_.view<void>();
    const cudaStream_t stream = memory.stream();
    handle_.set_stream(stream);
    if (a_.nnz() == 0) return;
    rows_ = DeviceBuffer<Index>(memory, a_.nnz(), "rows of entries");
    fill_rows<<<spmv_blocks(Offset{a_.rows()} * kWarpLanes), kSpmvThreads, 0, stream>>>(
        view_, rows_.data());
    CHECK_LAUNCH("fill_rows", stream);
    if (a_.value_kind() != ValueKind::none) return;
    ones_ = DeviceBuffer<std::byte>(memory, a_.nnz() * size_of(kind_), "values of 1");
    fill_ones(kind_, ones_.data(), a_.nnz(), stream);
    view_.values = ones_.data();
  }

  bool wants_trials(const ConstDenseView&, const DenseView&) const override {
    return trials_.best() == nullptr;
  }

  void run_trials(const ConstDenseView& x, const DenseView& scratch,
                  DeviceMemory& memory) override {
    if (a_.nnz() == 0 || scratch.rows == 0) return;
    x_ = std::make_unique<Vector>(x);
    y_ = std::make_unique<Vector>(scratch);
    for (const Algorithm& algorithm : kAlgorithms) {
      trials_.add(algorithm,
                  [&](Trials::Candidate& candidate) { return try_out(candidate, memory); });
    }
    trials_.require_one();
  }

  void launch(const ConstDenseView& x, const DenseView& y, double alpha, double beta,
              cudaStream_t stream) override {
    if (y.rows == 0) return;
    if (a_.nnz() == 0) return scale(y, beta, stream);
    x_->point_to(const_cast<void*>(x.data));
    y_->point_to(y.data);
    handle_.set_stream(stream);
    CHECK_CUSPARSE(multiply(*trials_.best(), alpha, beta));
  }

  std::uint64_t stored_bytes() const override {
    const Trials::Candidate* const best = trials_.best();
    return csr_bytes_of(a_) + ones_.size_bytes() +
           (best != nullptr && best->algorithm->is_coo ? rows_.size_bytes() : 0);
  }
  std::string choice() const override { return trials_.choice(); }

 private:
  cusparseStatus_t multiply(const Trials::Candidate& with, double alpha, double beta) {
    const CusparseScalar scale(alpha, accumulate_), keep(beta, accumulate_);
    const cudaDataType compute = cuda_type_of(accumulate_);
    if (with.algorithm->is_spmm) {
      return cusparseSpMM(handle_.get(), operation_, CUSPARSE_OPERATION_NON_TRANSPOSE, scale.get(),
                          with.a->get(), x_->matrix, keep.get(), y_->matrix, compute,
                          static_cast<cusparseSpMMAlg_t>(with.algorithm->id), with.buffer.data());
    }
    return cusparseSpMV(handle_.get(), operation_, scale.get(), with.a->get(), x_->vector,
                        keep.get(), y_->vector, compute,
                        static_cast<cusparseSpMVAlg_t>(with.algorithm->id), with.buffer.data());
  }

  cusparseStatus_t prepare(Trials::Candidate& candidate, DeviceMemory& memory) {
    const CusparseScalar one(1, accumulate_), zero(0, accumulate_);
    const cudaDataType compute = cuda_type_of(accumulate_);
    const bool is_spmm = candidate.algorithm->is_spmm;
    const auto spmm = static_cast<cusparseSpMMAlg_t>(candidate.algorithm->id);
    const auto spmv = static_cast<cusparseSpMVAlg_t>(candidate.algorithm->id);
    std::size_t bytes = 0;
    const cusparseStatus_t status =
        is_spmm
            ? cusparseSpMM_bufferSize(handle_.get(), operation_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                      one.get(), candidate.a->get(), x_->matrix, zero.get(),
                                      y_->matrix, compute, spmm, &bytes)
            : cusparseSpMV_bufferSize(handle_.get(), operation_, one.get(), candidate.a->get(),
                                      x_->vector, zero.get(), y_->vector, compute, spmv, &bytes);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    candidate.buffer = cusparse_buffer(memory, bytes);
    return is_spmm ? cusparseSpMM_preprocess(handle_.get(), operation_,
                                             CUSPARSE_OPERATION_NON_TRANSPOSE, one.get(),
                                             candidate.a->get(), x_->matrix, zero.get(), y_->matrix,
                                             compute, spmm, candidate.buffer.data())
                   : cusparseSpMV_preprocess(handle_.get(), operation_, one.get(),
                                             candidate.a->get(), x_->vector, zero.get(), y_->vector,
                                             compute, spmv, candidate.buffer.data());
  }

  cusparseStatus_t try_out(Trials::Candidate& candidate, DeviceMemory& memory) {
    handle_.set_stream(memory.stream());
    candidate.a = candidate.algorithm->is_coo
                      ? std::make_unique<CusparseMatrix>(view_, rows_.data(), kind_)
                      : std::make_unique<CusparseMatrix>(view_, kind_);
    cusparseStatus_t status = prepare(candidate, memory);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    const auto run = [&] { return multiply(candidate, 1, 0); };
    status = run();  // loads code, fills caches
    if (status == CUSPARSE_STATUS_SUCCESS) {
      candidate.seconds = least_seconds(memory.stream(), run);
    }
    return status;
  }

  void scale(const DenseView& y, double beta, cudaStream_t stream) const {
    const auto scaled = [&](auto number) {
      using Types = SpmvTypes<decltype(number), decltype(number), decltype(number)>;
      scale_vector<Types>
          <<<spmv_blocks(y.rows), kSpmvThreads, 0, stream>>>(update_of<Types>(y, 1, beta));
      CHECK_LAUNCH("scale_vector", stream);
    };
    return y.kind == ValueKind::f64 ? scaled(0.0) : scaled(0.0F);
  }

  ValueKind kind_, accumulate_;
  cusparseOperation_t operation_;
  DeviceCsr a_;
  DeviceBuffer<Index> rows_;
  DeviceBuffer<std::byte> ones_;
  DeviceCsrView<void> view_;  // of A, with ones for values if it has none
  CusparseHandle handle_;
  std::unique_ptr<Vector> x_, y_;
  Trials trials_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_vendor_cusparse(const SpmmProblem& problem) {
  return std::make_unique<Cusparse>(problem);
}

}  // namespace csrkit::gpu

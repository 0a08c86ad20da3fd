// vendor_cusparse: cusparseSpMV, and cusparseSpMM with one column, with the fastest algorithm.
// Owns     a row index for every entry, for the COO algorithms; ones, where A has no values
// Reads    A as it lies, 32-bit offsets
// Launch   at the first bind every algorithm gets its own descriptor, buffer and preprocess step,
//          is run once to warm up and then timed; the fastest stays. All of this is analysis time
// Needs    nnz below 2^31 and packed vectors. Not declared: what SpMM's row of the same name does
//          not declare either (subnormals, infinities, 16-bit results, alignment)
// Against  our own kernels; the same operands, the same stream, the same clock

#include <algorithm>
#include <cstdio>

#include "gpu/device/cuda_check.h"
#include "gpu/device/gpu_timer.h"
#include "gpu/device/head_start.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/device_spmv.h"

namespace csrkit::gpu {

namespace {

template <class Value>
__global__ void fill_ones(Value* values, Offset count) {
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (at < count) values[at] = Narrow<Value>::of(1);
}

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

cudaDataType cuda_type_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::f64: return CUDA_R_64F;
    case ValueKind::f16: return CUDA_R_16F;
    case ValueKind::bf16: return CUDA_R_16BF;
    default: return CUDA_R_32F;
  }
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
constexpr int kTimedRuns = 3;

/// An object of the library, destroyed with its owner.
struct Handle {
  cusparseHandle_t get = nullptr;
  Handle() { CHECK_CUSPARSE(cusparseCreate(&get)); }
  ~Handle() { CHECK_CUSPARSE_NOEXCEPT(cusparseDestroy(get)); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
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

/// alpha or beta in the type that the library expects behind the pointer.
class Scalar {
 public:
  Scalar(double value, ValueKind kind)
      : f32_(static_cast<float>(value)), f64_(value), kind_(kind) {}
  const void* get() const {
    return kind_ == ValueKind::f64 ? static_cast<const void*>(&f64_) : &f32_;
  }

 private:
  float f32_;
  double f64_;
  ValueKind kind_;
};

class Cusparse final : public DeviceSpmv {
 public:
  explicit Cusparse(const SpmmProblem& problem)
      : kind_(problem.b),
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

  void convert(DeviceCsr a, DeviceMemory& memory) override {
    a_ = std::move(a);
    handle_ = std::make_unique<Handle>();
    const DeviceCsrView<void> view = a_.view<void>();
    const cudaStream_t stream = memory.stream();
    values_ = const_cast<void*>(view.values);
    if (a_.nnz() == 0) return;
    rows_ = DeviceBuffer<Index>(memory, a_.nnz(), "rows of entries");
    fill_rows<<<spmv_blocks(Offset{a_.rows()} * kWarpLanes), kSpmvThreads, 0, stream>>>(
        view, rows_.data());
    CHECK_LAUNCH("fill_rows", stream);
    if (a_.value_kind() != ValueKind::none) return;
    ones_ = DeviceBuffer<std::byte>(memory, a_.nnz() * size_of(kind_), "values of 1");
    values_ = ones_.data();
    with_value_type(kind_, [&](auto tag) {
      using Value = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<Value, ImplicitOne>) {
        fill_ones<<<spmv_blocks(a_.nnz()), kSpmvThreads, 0, stream>>>(static_cast<Value*>(values_),
                                                                      a_.nnz());
        CHECK_LAUNCH("fill_ones", stream);
      }
    });
  }

  bool wants_trials(const ConstDenseView&, const DenseView&) const override { return !best_; }

  void run_trials(const ConstDenseView& x, const DenseView& scratch,
                  DeviceMemory& memory) override {
    if (a_.nnz() == 0 || scratch.rows == 0) return;
    x_ = std::make_unique<Vector>(x);
    y_ = std::make_unique<Vector>(scratch);
    for (const Algorithm& algorithm : kAlgorithms) {
      auto candidate = std::make_unique<Candidate>();
      candidate->algorithm = &algorithm;
      const cusparseStatus_t status = try_out(*candidate, memory);
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

  void launch(const ConstDenseView& x, const DenseView& y, double alpha, double beta,
              cudaStream_t stream) override {
    if (y.rows == 0) return;
    if (a_.nnz() == 0) return scale(y, beta, stream);
    x_->point_to(const_cast<void*>(x.data));
    y_->point_to(y.data);
    CHECK_CUSPARSE(cusparseSetStream(handle_->get, stream));
    CHECK_CUSPARSE(multiply(*best_, alpha, beta));
  }

  std::uint64_t stored_bytes() const override {
    return csr_bytes_of(a_) + ones_.size_bytes() +
           (best_ && best_->algorithm->is_coo ? rows_.size_bytes() : 0);
  }
  std::string choice() const override {
    return best_ ? std::string(best_->algorithm->name) + " (" + tried_ + ")" : std::string();
  }

 private:
  cusparseStatus_t multiply(const Candidate& with, double alpha, double beta) {
    const Scalar scale(alpha, accumulate_), keep(beta, accumulate_);
    const cudaDataType compute = cuda_type_of(accumulate_);
    if (with.algorithm->is_spmm) {
      return cusparseSpMM(handle_->get, operation_, CUSPARSE_OPERATION_NON_TRANSPOSE, scale.get(),
                          with.a, x_->matrix, keep.get(), y_->matrix, compute,
                          static_cast<cusparseSpMMAlg_t>(with.algorithm->id), with.buffer.data());
    }
    return cusparseSpMV(handle_->get, operation_, scale.get(), with.a, x_->vector, keep.get(),
                        y_->vector, compute, static_cast<cusparseSpMVAlg_t>(with.algorithm->id),
                        with.buffer.data());
  }

  void describe(Candidate& candidate) const {
    const DeviceCsrView<void> a = a_.view<void>();
    const cudaDataType type = cuda_type_of(kind_);
    auto* cols = const_cast<Index*>(a.col_indices);
    if (candidate.algorithm->is_coo) {
      CHECK_CUSPARSE(cusparseCreateCoo(&candidate.a, a.rows, a.cols, a.nnz, rows_.data(), cols,
                                       values_, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                       type));
    } else {
      CHECK_CUSPARSE(cusparseCreateCsr(
          &candidate.a, a.rows, a.cols, a.nnz, const_cast<std::uint32_t*>(a.row_offsets.narrow),
          cols, values_, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    }
  }

  cusparseStatus_t prepare(Candidate& candidate, DeviceMemory& memory) {
    const Scalar one(1, accumulate_), zero(0, accumulate_);
    const cudaDataType compute = cuda_type_of(accumulate_);
    const bool is_spmm = candidate.algorithm->is_spmm;
    const auto spmm = static_cast<cusparseSpMMAlg_t>(candidate.algorithm->id);
    const auto spmv = static_cast<cusparseSpMVAlg_t>(candidate.algorithm->id);
    std::size_t bytes = 0;
    const cusparseStatus_t status =
        is_spmm
            ? cusparseSpMM_bufferSize(handle_->get, operation_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                      one.get(), candidate.a, x_->matrix, zero.get(), y_->matrix,
                                      compute, spmm, &bytes)
            : cusparseSpMV_bufferSize(handle_->get, operation_, one.get(), candidate.a, x_->vector,
                                      zero.get(), y_->vector, compute, spmv, &bytes);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    candidate.buffer = DeviceBuffer<std::byte>(
        memory, std::max<Offset>(1, static_cast<Offset>(bytes)), "the buffer of cuSPARSE");
    return is_spmm
               ? cusparseSpMM_preprocess(handle_->get, operation_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                         one.get(), candidate.a, x_->matrix, zero.get(), y_->matrix,
                                         compute, spmm, candidate.buffer.data())
               : cusparseSpMV_preprocess(handle_->get, operation_, one.get(), candidate.a,
                                         x_->vector, zero.get(), y_->vector, compute, spmv,
                                         candidate.buffer.data());
  }

  // A refusal is recorded; a failure of the device is thrown.
  cusparseStatus_t try_out(Candidate& candidate, DeviceMemory& memory) {
    const cudaStream_t stream = memory.stream();
    CHECK_CUSPARSE(cusparseSetStream(handle_->get, stream));
    describe(candidate);
    cusparseStatus_t status = prepare(candidate, memory);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    status = multiply(candidate, 1, 0);  // loads code, fills caches
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    CHECK_CUDA(cudaStreamSynchronize(stream));
    GpuTimer timer;
    for (int run = 0; run < kTimedRuns; ++run) {
      give_head_start(stream);
      timer.start(stream);
      CHECK_CUSPARSE(multiply(candidate, 1, 0));
      timer.stop(stream);
      const double seconds = timer.seconds();
      candidate.seconds = run == 0 ? seconds : std::min(candidate.seconds, seconds);
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
  void* values_ = nullptr;
  std::unique_ptr<Handle> handle_;
  std::unique_ptr<Vector> x_, y_;
  std::unique_ptr<Candidate> best_;
  std::string tried_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_vendor_cusparse(const SpmmProblem& problem) {
  return std::make_unique<Cusparse>(problem);
}

}  // namespace csrkit::gpu

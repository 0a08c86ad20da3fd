// What the rows vendor_cusparse of all operations share: objects of the library that go with their
// owner, numbers in the types that it wants, and how its algorithms are compared.
#pragma once

#include <cusparse.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_csr.h"
#include "gpu/device/timing/gpu_timer.h"
#include "gpu/device/timing/head_start.h"

namespace csrkit::gpu {

/// f32 for kind none, whose values of 1 are made in it.
cudaDataType cuda_type_of(ValueKind kind);

/// Throws UsageError for a matrix beyond the library's limit. It wants offsets and columns of equal
/// width, and columns are 32-bit here.
void require_cusparse_size(Offset nnz);
/// Throws UsageError unless offsets have 32 bits and start at 0.
void require_cusparse_offsets(const DeviceCsrView<void>& matrix);

/// At least 1 byte: the library takes a null pointer as a query of the size.
DeviceBuffer<std::byte> cusparse_buffer(DeviceMemory& memory, std::size_t bytes);

/// Values of 1, for a matrix without values: the library wants an array of them.
void fill_ones(ValueKind kind, void* values, Offset count, cudaStream_t stream);

/// alpha or beta in the type that the library expects behind the pointer.
class CusparseScalar {
 public:
  CusparseScalar(double value, ValueKind kind)
      : f32_(static_cast<float>(value)), f64_(value), kind_(kind) {}
  const void* get() const {
    return kind_ == ValueKind::f64 ? static_cast<const void*>(&f64_) : &f32_;
  }

 private:
  float f32_;
  double f64_;
  ValueKind kind_;
};

/// The library's handle, made at its first use: without a GPU the plan refuses before that, with a
/// better message.
class CusparseHandle {
 public:
  CusparseHandle() = default;
  ~CusparseHandle() {
    if (handle_ != nullptr) CHECK_CUSPARSE_NOEXCEPT(cusparseDestroy(handle_));
  }
  CusparseHandle(const CusparseHandle&) = delete;
  CusparseHandle& operator=(const CusparseHandle&) = delete;
  cusparseHandle_t get() const {
    if (handle_ == nullptr) CHECK_CUSPARSE(cusparseCreate(&handle_));
    return handle_;
  }
  void set_stream(cudaStream_t stream) const { CHECK_CUSPARSE(cusparseSetStream(get(), stream)); }

 private:
  mutable cusparseHandle_t handle_ = nullptr;
};

/// The library's descriptor of a sparse matrix, whose arrays it borrows.
class CusparseMatrix {
 public:
  /// CSR, with 32-bit offsets that start at 0.
  CusparseMatrix(const DeviceCsrView<void>& matrix, ValueKind kind);
  /// COO: `rows` has the row of every entry.
  CusparseMatrix(const DeviceCsrView<void>& matrix, Index* rows, ValueKind kind);
  ~CusparseMatrix() { CHECK_CUSPARSE_NOEXCEPT(cusparseDestroySpMat(descriptor_)); }
  CusparseMatrix(const CusparseMatrix&) = delete;
  CusparseMatrix& operator=(const CusparseMatrix&) = delete;
  cusparseSpMatDescr_t get() const { return descriptor_; }

 private:
  cusparseSpMatDescr_t descriptor_ = nullptr;
};

/// The least time of three calls of `multiply`, after everything queued before.
template <class Multiply>
double least_seconds(cudaStream_t stream, const Multiply& multiply) {
  CHECK_CUDA(cudaStreamSynchronize(stream));
  GpuTimer timer;
  double least = 0;
  for (int run = 0; run < 3; ++run) {
    give_head_start(stream);
    timer.start(stream);
    CHECK_CUSPARSE(multiply());
    timer.stop(stream);
    const double seconds = timer.seconds();
    least = run == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

/// The algorithms of a product that were tried, in words, and the fastest of them.
template <class Algorithm>
class CusparseTrials {
 public:
  /// One algorithm, with the descriptor and buffer that its preprocess step fills.
  struct Candidate {
    const Algorithm* algorithm = nullptr;
    std::unique_ptr<CusparseMatrix> a;
    DeviceBuffer<std::byte> buffer;
    double seconds = 0;
  };

  /// `try_out` prepares and times a candidate. What it returns but success is a refusal, which is
  /// recorded; a failure of the device is thrown.
  template <class TryOut>
  void add(const Algorithm& algorithm, const TryOut& try_out) {
    auto candidate = std::make_unique<Candidate>();
    candidate->algorithm = &algorithm;
    const cusparseStatus_t status = try_out(*candidate);
    tried_ += (tried_.empty() ? "" : ", ") + std::string(algorithm.name) + " ";
    if (status != CUSPARSE_STATUS_SUCCESS) {
      tried_ += std::string("refused with ") + cusparseGetErrorName(status);
      return;
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.1f us", candidate->seconds * 1e6);
    tried_ += text;
    if (!best_ || candidate->seconds < best_->seconds) best_ = std::move(candidate);
  }

  void require_one() const {
    if (!best_) throw UsageError("vendor_cusparse: no algorithm takes this product: " + tried_);
  }
  /// Null before the first that was not refused.
  const Candidate* best() const { return best_.get(); }
  std::string choice() const {
    return best_ ? std::string(best_->algorithm->name) + " (" + tried_ + ")" : std::string();
  }

 private:
  std::unique_ptr<Candidate> best_;
  std::string tried_;
};

}  // namespace csrkit::gpu

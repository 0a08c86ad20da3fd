// The two ways through cuSPARSE's sparse product, step by step, in the plan's memory.
#pragma once

#include <cusparse.h>

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// The library's handle, made when it is first asked for: without a GPU there is none, and the
/// plan, which asks later, has said so by then.
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

/// A CSR matrix as the library sees it, with narrow offsets.
class CusparseMatrix {
 public:
  CusparseMatrix(const DeviceCsrView<void>& matrix, ValueKind kind);
  ~CusparseMatrix() { CHECK_CUSPARSE_NOEXCEPT(cusparseDestroySpMat(descriptor_)); }
  CusparseMatrix(const CusparseMatrix&) = delete;
  CusparseMatrix& operator=(const CusparseMatrix&) = delete;
  cusparseSpMatDescr_t get() const { return descriptor_; }
  /// The number of entries, once the library knows it; MemoryError if it is beyond 32 bits.
  Offset nnz() const;

 private:
  cusparseSpMatDescr_t descriptor_ = nullptr;
};

class CusparseWork {
 public:
  CusparseWork() { CHECK_CUSPARSE(cusparseSpGEMM_createDescr(&descriptor_)); }
  ~CusparseWork() { CHECK_CUSPARSE_NOEXCEPT(cusparseSpGEMM_destroyDescr(descriptor_)); }
  CusparseWork(const CusparseWork&) = delete;
  CusparseWork& operator=(const CusparseWork&) = delete;
  cusparseSpGEMMDescr_t get() const { return descriptor_; }

 private:
  cusparseSpGEMMDescr_t descriptor_ = nullptr;
};

/// C by cusparseSpGEMM: estimate, compute, copy. `chunk_fraction` 0: without the memory estimate of
/// algorithms 2 and 3.
void cusparse_product(const CusparseHandle& handle, ValueKind kind, cusparseSpGEMMAlg_t algorithm,
                      float chunk_fraction, const SpgemmOperands& operands, DeviceMemory& memory,
                      DeviceProduct& c);

/// C by cusparseSpGEMMreuse: the structure once, then values as often as wanted. Borrows the
/// operands and C.
class CusparseReuse {
 public:
  CusparseReuse(const CusparseHandle& handle, ValueKind kind, cusparseSpGEMMAlg_t algorithm)
      : handle_(handle), kind_(kind), algorithm_(algorithm) {}

  /// Makes the columns and offsets of `c`, whose arrays are allocated unless they are there.
  void find_structure(const SpgemmOperands& operands, DeviceMemory& memory, DeviceProduct& c);
  void compute(double alpha);

 private:
  const CusparseHandle& handle_;
  ValueKind kind_;
  cusparseSpGEMMAlg_t algorithm_;
  CusparseWork work_;
  std::unique_ptr<CusparseMatrix> a_, b_, c_;
  DeviceBuffer<std::byte> kept_, copied_;  // what compute reads
};

}  // namespace csrkit::gpu

// The steps of cuSPARSE's two sparse products (SpGEMM and SpGEMMreuse), in the plan's memory.
#pragma once

#include <cusparse.h>

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

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

/// The library's descriptor of a CSR matrix, with 32-bit offsets.
class CusparseMatrix {
 public:
  CusparseMatrix(const DeviceCsrView<void>& matrix, ValueKind kind);
  ~CusparseMatrix() { CHECK_CUSPARSE_NOEXCEPT(cusparseDestroySpMat(descriptor_)); }
  CusparseMatrix(const CusparseMatrix&) = delete;
  CusparseMatrix& operator=(const CusparseMatrix&) = delete;
  cusparseSpMatDescr_t get() const { return descriptor_; }
  /// The number of entries, once the library has counted them. Throws MemoryError beyond 2^31 - 1.
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

/// C by cusparseSpGEMM: estimate, compute, copy. If `chunk_fraction` is 0, the memory estimate of
/// algorithms 2 and 3 is left out.
void cusparse_product(const CusparseHandle& handle, ValueKind kind, cusparseSpGEMMAlg_t algorithm,
                      float chunk_fraction, const SpgemmOperands& operands, DeviceMemory& memory,
                      DeviceProduct& c);

/// C by cusparseSpGEMMreuse: the structure once, then values any number of times. Borrows the
/// operands and C.
class CusparseReuse {
 public:
  CusparseReuse(const CusparseHandle& handle, ValueKind kind, cusparseSpGEMMAlg_t algorithm)
      : handle_(handle), kind_(kind), algorithm_(algorithm) {}

  /// Computes the offsets and columns of `c`; allocates its arrays unless they exist.
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

// The steps of cuSPARSE's two sparse products (SpGEMM and SpGEMMreuse), in the plan's memory.
#pragma once

#include "gpu/device/cusparse.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

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

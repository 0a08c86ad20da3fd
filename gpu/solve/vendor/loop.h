// One iteration's passes over vectors, by calls of cuBLAS.
#pragma once

#include "gpu/solve/vectors.h"
#include "gpu/solve/vendor/cublas.h"

namespace csrkit::gpu {

/// Everything between two products, with scalars on the device. One column; M is diagonal or none.
template <class T>
class VendorPasses {
 public:
  explicit VendorPasses(DeviceMemory& memory);
  /// Everything from q = A p to the next p. Queued; can be captured.
  void queue(const CgState<T>& state);

 private:
  /// Positions in `scalars_`.
  enum Place { kFirstSum, kSecondSum, kAlpha, kMinusAlpha, kBeta, kOne, kPlaces };

  void dot(const CgState<T>& state, const T* a, const T* b, Place to);
  void axpy(const CgState<T>& state, Place scale, const T* x, T* y);

  cudaStream_t stream_;
  Cublas cublas_;
  DeviceBuffer<T> scalars_;
};

}  // namespace csrkit::gpu

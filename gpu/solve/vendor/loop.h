// The passes over vectors of one iteration, as the vendor's library offers them.
#pragma once

#include "gpu/solve/vectors.h"
#include "gpu/solve/vendor/cublas.h"

namespace csrkit::gpu {

/// What is between two products, by calls of cuBLAS with scalars on the device. One column, M
/// diagonal or none.
template <class T>
class VendorPasses {
 public:
  explicit VendorPasses(DeviceMemory& memory);
  /// After q = A p: everything up to the next p. Queued; can be captured.
  void queue(const CgState<T>& state);

 private:
  /// Numbers in `scalars_`.
  enum Place { kFirstSum, kSecondSum, kAlpha, kMinusAlpha, kBeta, kOne, kPlaces };

  void dot(const CgState<T>& state, const T* a, const T* b, Place to);
  void axpy(const CgState<T>& state, Place scale, const T* x, T* y);

  cudaStream_t stream_;
  Cublas cublas_;
  DeviceBuffer<T> scalars_;
};

}  // namespace csrkit::gpu

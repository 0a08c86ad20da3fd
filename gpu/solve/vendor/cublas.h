// cuBLAS, opened at its first use: other programs start without it.
#pragma once

#include <cublas_v2.h>

#include "gpu/device/device_buffer.h"

namespace csrkit::gpu {

/// The functions of the library that are used here, by their names.
struct CublasCalls {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  decltype(&cublasSetAtomicsMode) set_atomics;
  decltype(&cublasSetPointerMode_v2) set_pointers;
  decltype(&cublasSgemv_v2) sgemv;
  decltype(&cublasDgemv_v2) dgemv;
  decltype(&cublasSsymv_v2) ssymv;
  decltype(&cublasDsymv_v2) dsymv;
  decltype(&cublasSdot_v2) sdot;
  decltype(&cublasDdot_v2) ddot;
  decltype(&cublasSaxpy_v2) saxpy;
  decltype(&cublasDaxpy_v2) daxpy;
  decltype(&cublasSscal_v2) sscal;
  decltype(&cublasDscal_v2) dscal;
};

/// A handle in the stream of `memory`, with a workspace of its own, so that all calls can be
/// captured in a CUDA graph. `scalars`: whether alpha and beta are on the host or on the device.
/// Throws UsageError where the library is not installed, MemoryError, DeviceError.
class Cublas {
 public:
  Cublas(DeviceMemory& memory, cublasPointerMode_t scalars, bool with_atomics);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  const CublasCalls& calls() const { return calls_; }
  cublasHandle_t handle() const { return handle_; }

 private:
  const CublasCalls& calls_;
  cublasHandle_t handle_ = nullptr;
  DeviceBuffer<std::byte> workspace_;
};

void check_cublas(cublasStatus_t status, const char* call);

}  // namespace csrkit::gpu

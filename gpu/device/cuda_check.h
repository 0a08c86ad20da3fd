// Every CUDA call is checked. A failure becomes an exception of the right type, with the call and
// its place in the source. Destructors must not throw, so they ignore it explicitly.
#pragma once

#include <cuda_runtime.h>
#include <cusparse.h>

// A source's name without its folders: messages must not name folders of the build machine.
#ifdef __FILE_NAME__
#define CSRKIT_FILE_NAME __FILE_NAME__
#else  // GCC before 12
#define CSRKIT_FILE_NAME __FILE__
#endif

namespace csrkit::gpu {

/// Throws MemoryError for lack of device memory, NoDeviceError where no GPU can be used,
/// DeviceError for the rest. Clears the runtime's last error, so that a later launch check does not
/// see it again.
[[noreturn]] void throw_cuda_error(cudaError_t status, const char* call, const char* file,
                                   int line);
[[noreturn]] void throw_cusparse_error(cusparseStatus_t status, const char* call, const char* file,
                                       int line);

}  // namespace csrkit::gpu

#define CHECK_CUDA(call)                                                                 \
  do {                                                                                   \
    const cudaError_t csrkit_status = (call);                                            \
    if (csrkit_status != cudaSuccess) {                                                  \
      ::csrkit::gpu::throw_cuda_error(csrkit_status, #call, CSRKIT_FILE_NAME, __LINE__); \
    }                                                                                    \
  } while (false)

#define CHECK_CUSPARSE(call)                                                                 \
  do {                                                                                       \
    const cusparseStatus_t csrkit_status = (call);                                           \
    if (csrkit_status != CUSPARSE_STATUS_SUCCESS) {                                          \
      ::csrkit::gpu::throw_cusparse_error(csrkit_status, #call, CSRKIT_FILE_NAME, __LINE__); \
    }                                                                                        \
  } while (false)

// For destructors. A sticky failure comes back from the next checked call.
#define CHECK_CUDA_NOEXCEPT(call)          \
  do {                                     \
    static_cast<void>(call);               \
    static_cast<void>(cudaGetLastError()); \
  } while (false)

#define CHECK_CUSPARSE_NOEXCEPT(call) \
  do {                                \
    static_cast<void>(call);          \
  } while (false)

// After every launch; `name` is the kernel's, `stream` where it was launched. Debug builds wait, so
// that a fault is reported at the kernel that made it (but not inside a stream capture, which
// forbids waiting).
#ifdef NDEBUG
#define CHECK_LAUNCH(name, stream)                                                        \
  do {                                                                                    \
    const cudaError_t csrkit_status = cudaGetLastError();                                 \
    if (csrkit_status != cudaSuccess) {                                                   \
      ::csrkit::gpu::throw_cuda_error(csrkit_status, "launch of " name, CSRKIT_FILE_NAME, \
                                      __LINE__);                                          \
    }                                                                                     \
  } while (false)
#else
#define CHECK_LAUNCH(name, stream)                                                        \
  do {                                                                                    \
    cudaError_t csrkit_status = cudaGetLastError();                                       \
    cudaStreamCaptureStatus csrkit_capture = cudaStreamCaptureStatusNone;                 \
    if (csrkit_status == cudaSuccess) {                                                   \
      csrkit_status = cudaStreamIsCapturing(stream, &csrkit_capture);                     \
    }                                                                                     \
    if (csrkit_status == cudaSuccess && csrkit_capture == cudaStreamCaptureStatusNone) {  \
      csrkit_status = cudaStreamSynchronize(stream);                                      \
    }                                                                                     \
    if (csrkit_status != cudaSuccess) {                                                   \
      ::csrkit::gpu::throw_cuda_error(csrkit_status, "launch of " name, CSRKIT_FILE_NAME, \
                                      __LINE__);                                          \
    }                                                                                     \
  } while (false)
#endif

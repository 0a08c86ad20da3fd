// Every CUDA call is checked. A failure becomes an exception of the right kind, with the text of
// the call and its place; in destructors, which must not throw, it is dropped knowingly.
#pragma once

#include <cuda_runtime.h>
#include <cusparse.h>

// The name of a source without its folders, which are those of the machine that compiled it.
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

// For destructors: the failure of a clean-up has no better place to go than the next checked call.
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
// that a fault is reported where it was made (not inside a stream capture, which forbids waiting).
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

#include "gpu/device/cuda_check.h"

#include <string>

#include "core/base/error.h"

namespace csrkit::gpu {

namespace {

std::string place_of(const char* file, int line) {
  return std::string(" (") + file + ":" + std::to_string(line) + ")";
}

}  // namespace

void throw_cuda_error(cudaError_t status, const char* call, const char* file, int line) {
  static_cast<void>(cudaGetLastError());
  const std::string message = std::string(call) + ": " + cudaGetErrorName(status) + ", " +
                              cudaGetErrorString(status) + place_of(file, line);
  switch (status) {
    case cudaErrorMemoryAllocation: throw MemoryError("not enough device memory: " + message);
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice: throw NoDeviceError("no usable GPU: " + message);
    default: throw DeviceError(message);
  }
}

void throw_cusparse_error(cusparseStatus_t status, const char* call, const char* file, int line) {
  const std::string message = std::string(call) + ": " + cusparseGetErrorName(status) + ", " +
                              cusparseGetErrorString(status) + place_of(file, line);
  if (status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES) {
    throw MemoryError("not enough device memory: " + message);
  }
  throw DeviceError(message);
}

}  // namespace csrkit::gpu

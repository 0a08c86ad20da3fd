#include "gpu/device/device_info.h"

#include <cuda_runtime.h>

#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/stream.h"

namespace csrkit::gpu {

void require_device(int ordinal) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    throw NoDeviceError(std::string("no usable GPU: ") + cudaGetErrorString(status) + " (" +
                        cudaGetErrorName(status) +
                        "); check the driver with nvidia-smi, and CUDA_VISIBLE_DEVICES");
  }
  if (ordinal < 0 || ordinal >= count) {
    throw NoDeviceError("there is no GPU " + std::to_string(ordinal) + "; " +
                        std::to_string(count) + " visible, numbered from 0");
  }
}

DeviceInfo device_info(int ordinal) {
  require_device(ordinal);
  cudaDeviceProp properties = {};
  CHECK_CUDA(cudaGetDeviceProperties(&properties, ordinal));
  DeviceInfo info;
  info.ordinal = ordinal;
  info.name = properties.name;
  info.compute_major = properties.major;
  info.compute_minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.shared_memory_per_multiprocessor_bytes = properties.sharedMemPerMultiprocessor;
  info.l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize);
  info.total_memory_bytes = properties.totalGlobalMem;
  CHECK_CUDA(cudaDeviceGetAttribute(&info.sm_clock_khz, cudaDevAttrClockRate, ordinal));
  CHECK_CUDA(cudaDeviceGetAttribute(&info.memory_clock_khz, cudaDevAttrMemoryClockRate, ordinal));
  // Two transfers per clock of the bus.
  info.peak_bandwidth_bytes_per_second =
      2.0 * info.memory_clock_khz * 1e3 * properties.memoryBusWidth / 8.0;
  CHECK_CUDA(cudaDriverGetVersion(&info.driver_version));
  CHECK_CUDA(cudaRuntimeGetVersion(&info.runtime_version));
  const DeviceScope scope(ordinal);
  std::size_t free_bytes = 0, total_bytes = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  info.free_memory_bytes = free_bytes;
  return info;
}

std::uint64_t current_l2_bytes() {
  int device = 0, bytes = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace csrkit::gpu

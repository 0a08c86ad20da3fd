#include "gpu/device/device_info.h"

#include <cuda_runtime.h>

#include <map>
#include <mutex>

#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/streams/stream.h"

namespace csrkit::gpu {

namespace {

/// Two transfers per clock of the bus.
double bytes_per_second(double clock_khz, double bus_bits) {
  return 2.0 * clock_khz * 1e3 * bus_bits / 8.0;
}

}  // namespace

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
  info.peak_bandwidth_bytes_per_second =
      bytes_per_second(info.memory_clock_khz, properties.memoryBusWidth);
  CHECK_CUDA(cudaDriverGetVersion(&info.driver_version));
  CHECK_CUDA(cudaRuntimeGetVersion(&info.runtime_version));
  const DeviceScope scope(ordinal);
  std::size_t free_bytes = 0, total_bytes = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  info.free_memory_bytes = free_bytes;
  return info;
}

CardRates current_card_rates() {
  static std::mutex mutex;
  static std::map<int, CardRates> known;
  const std::lock_guard<std::mutex> lock(mutex);
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {};
  }
  const auto found = known.find(device);
  if (found != known.end()) return found->second;
  const auto fact = [&](cudaDeviceAttr attribute) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess) return double(value);
    static_cast<void>(cudaGetLastError());
    return 0.0;
  };
  CardRates rates;
  const double cycles = fact(cudaDevAttrMultiProcessorCount) * fact(cudaDevAttrClockRate) * 1e3;
  const double memory =
      bytes_per_second(fact(cudaDevAttrMemoryClockRate), fact(cudaDevAttrGlobalMemoryBusWidth));
  const double l2_bytes = fact(cudaDevAttrL2CacheSize);
  if (cycles > 0) rates.cycles_per_second = cycles;
  if (memory > 0) rates.memory_bytes_per_second = memory;
  if (l2_bytes > 0) rates.l2_bytes = l2_bytes;
  return known.emplace(device, rates).first->second;
}

namespace {

/// An attribute of the current device; `otherwise` where there is no GPU.
int attribute_of_current(cudaDeviceAttr attribute, int otherwise) {
  int device = 0, value = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&value, attribute, device) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return otherwise;
  }
  return value;
}

}  // namespace

int current_multiprocessors() { return attribute_of_current(cudaDevAttrMultiProcessorCount, 132); }

std::uint64_t current_l2_bytes() {
  return static_cast<std::uint64_t>(attribute_of_current(cudaDevAttrL2CacheSize, 60 << 20));
}

int current_shared_bytes() {
  return attribute_of_current(cudaDevAttrMaxSharedMemoryPerBlockOptin, 227 * 1024);
}

}  // namespace csrkit::gpu

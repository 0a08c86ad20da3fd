// Facts about the GPU, for reports and forecasts. No CUDA in this header: tools may include it.
#pragma once

#include <cstdint>
#include <string>

namespace csrkit::gpu {

struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t shared_memory_per_multiprocessor_bytes = 0;  // the memory is L1 as well
  std::uint64_t l2_bytes = 0;
  std::uint64_t total_memory_bytes = 0;
  std::uint64_t free_memory_bytes = 0;
  int sm_clock_khz = 0;
  int memory_clock_khz = 0;
  double peak_bandwidth_bytes_per_second = 0;
  int driver_version = 0;   // CUDA version of the driver, 13000 = 13.0
  int runtime_version = 0;  // of the runtime linked
};

/// Throws NoDeviceError with the runtime's reason if there is no usable GPU of that ordinal.
void require_device(int ordinal = 0);

/// Throws as require_device does. Reading the clocks takes a while: do not call it for every plan.
DeviceInfo device_info(int ordinal = 0);

/// A card's rates and sizes, for models of kernels that count cycles and bytes. The defaults are an
/// H200's.
struct CardRates {
  double cycles_per_second = 132 * 1.98e9;  // of all 132 multiprocessors together, at 1.98 GHz
  double memory_bytes_per_second = 4.81e12;
  double l2_bytes = 62914560;
};

/// Of the current device; an H200's where there is no GPU or it does not report them. Read once a
/// process and device, as reading the clocks takes a while.
CardRates current_card_rates();

/// Multiprocessors of the current device; an H200's 132 where there is no GPU. Cheap.
int current_multiprocessors();

/// Bytes of L2 of the current device; an H200's where there is no GPU. Cheap. Choosers and kernels
/// that cut slices by the cache use it.
std::uint64_t current_l2_bytes();

/// Bytes of shared memory that a block may ask for on the current device; an H200's where there is
/// no GPU. Cheap.
int current_shared_bytes();

}  // namespace csrkit::gpu

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
  std::uint64_t shared_memory_per_multiprocessor_bytes = 0;  // of the memory that is L1 as well
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

/// Throws as require_device does. Asking for clocks takes a while: not for every plan.
DeviceInfo device_info(int ordinal = 0);

/// What a card does in a second and holds, for models of kernels, which count cycles and bytes.
struct CardRates {
  double cycles_per_second = 132 * 1.98e9;  // of all multiprocessors together
  double memory_bytes_per_second = 4.81e12;
  double l2_bytes = 62914560;
};

/// Of the device that is current. The clocks are asked for once a process and device, as that
/// takes a while. Where there is no GPU, or it does not say, those of an H200.
CardRates current_card_rates();

/// Of the device that is current, 132 where there is no GPU: one cheap question.
int current_multiprocessors();

/// Bytes of L2 of the device that is current, an H200's where there is no GPU: one cheap question,
/// for kernels that size slices by it and for choosers.
std::uint64_t current_l2_bytes();

/// Bytes of shared memory that a block may ask for, an H200's where there is no GPU: one cheap
/// question.
int current_shared_bytes();

}  // namespace csrkit::gpu

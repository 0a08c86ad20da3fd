// The scratch memory of CUB's algorithms. Forecasts use upper bounds, because CUB needs a device to
// say how much it takes.
#pragma once

#include <cstdint>

#include "core/base/types.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_buffer.h"

namespace csrkit::gpu {

/// Beside what grows: totals, counters, alignment.
inline constexpr std::uint64_t kCubFixedBytes = 64 << 10;

/// cub::DeviceScan over `count` numbers of up to 8 bytes, and cub::DevicePartition of as many of 4:
/// a state of 16 bytes for every tile of 512 numbers or more, and as much to spare.
constexpr std::uint64_t scan_scratch_bound(Offset count) {
  return static_cast<std::uint64_t>(count) / 16 + kCubFixedBytes;
}

/// cub::DeviceRadixSort of `count` pairs in a DoubleBuffer: counters of 256 digits for every few
/// thousand pairs, less than a byte a pair.
constexpr std::uint64_t sort_scratch_bound(Offset count) {
  return static_cast<std::uint64_t>(count) + kCubFixedBytes;
}

/// Runs algorithm(void* scratch, std::size_t& bytes), which returns a call of CUB in the memory's
/// stream: once for the bytes that it needs, once with them. `what` names them in a MemoryError.
template <class Algorithm>
void with_cub_scratch(DeviceMemory& memory, const char* what, const Algorithm& algorithm) {
  std::size_t bytes = 0;
  CHECK_CUDA(algorithm(nullptr, bytes));  // never 0 bytes, so the next pointer is not null
  const DeviceBuffer<std::byte> scratch(memory, static_cast<Offset>(bytes), what);
  CHECK_CUDA(algorithm(scratch.data(), bytes));
}

}  // namespace csrkit::gpu

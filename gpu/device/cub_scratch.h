// Upper bounds of the scratch memory of CUB's algorithms, for forecasts: CUB itself needs a device
// to say how much it takes.
#pragma once

#include <cstdint>

#include "core/base/types.h"

namespace csrkit::gpu {

/// Beside what grows: totals, counters, alignment.
inline constexpr std::uint64_t kCubFixedBytes = 64 << 10;

/// cub::DeviceScan over `count` numbers of up to 8 bytes: a state of 16 bytes for every tile of 512
/// numbers or more, and as much to spare.
constexpr std::uint64_t scan_scratch_bound(Offset count) {
  return static_cast<std::uint64_t>(count) / 16 + kCubFixedBytes;
}

/// cub::DeviceRadixSort of `count` pairs in a DoubleBuffer: counters of 256 digits for every few
/// thousand pairs, less than a byte a pair.
constexpr std::uint64_t sort_scratch_bound(Offset count) {
  return static_cast<std::uint64_t>(count) + kCubFixedBytes;
}

}  // namespace csrkit::gpu

// The classic parallel sorts of this study on a GPU, and CUB's beside them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/device/device_buffer.h"
#include "studies/parallel_sorts/sorts.h"

namespace csrkit::studies {

/// Entries on the device: keys and payloads apart, so that neighbouring threads touch neighbours.
struct DeviceEntries {
  gpu::DeviceBuffer<std::uint64_t> keys;
  gpu::DeviceBuffer<std::uint64_t> payloads;

  DeviceEntries(gpu::DeviceMemory& memory, Offset size)
      : keys(memory, size, "keys"), payloads(memory, size, "payloads") {}
  Offset size() const { return keys.size(); }
  void swap(DeviceEntries& other) {
    std::swap(keys, other.keys);
    std::swap(payloads, other.payloads);
  }
};

/// The largest part that a sort gave to one block, over the mean of its parts; 0 if it has none.
using LoadRatio = double;

struct GpuSort {
  const char* name;
  bool is_stable;
  std::int64_t largest_measured;
  LoadRatio (*sort)(DeviceEntries& entries, gpu::DeviceMemory& memory);
};

/// Entries of a run of regular sampling; there are as many parts as runs.
inline constexpr Offset kRun = 4096;

/// rank: a thread per entry counts how many belong before it; keys come through shared memory.
/// bucket: 1,024 equal slices of the key range; a block sorts each by a network in shared memory.
/// sample: regular sampling with runs of 4,096 entries; blocks sort runs and parts as above.
/// bitonic: Batcher's network over all entries; comparators less than 2,048 apart in shared memory.
/// lsd_radix: one stable counting pass per byte that differs.
/// cub_radix and cub_merge: what CUDA brings along. A bucket or a part that is too large for shared
/// memory is sorted by lsd_radix.
const std::vector<GpuSort>& gpu_sorts();

}  // namespace csrkit::studies

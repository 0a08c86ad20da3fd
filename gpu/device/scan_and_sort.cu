#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "gpu/device/cub_scratch.h"
#include "gpu/device/scan_and_sort.h"

namespace csrkit::gpu {

void exclusive_sum(DeviceMemory& memory, Offset* numbers, Offset count) {
  if (count == 0) return;
  with_cub_scratch(memory, "adding up counts", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, numbers, numbers, count, memory.stream());
  });
}

void sort_by_key(DeviceMemory& memory, DeviceBuffer<std::uint64_t>& keys,
                 DeviceBuffer<Index>& items) {
  const Offset count = items.size();
  if (count == 0) return;
  constexpr const char* kWhat = "sorting by key";
  const DeviceBuffer<std::uint64_t> sorted_keys(memory, count, kWhat);
  DeviceBuffer<Index> sorted_items(memory, count, kWhat);
  with_cub_scratch(memory, kWhat, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.data(), sorted_keys.data(),
                                           items.data(), sorted_items.data(), count, 0, 64,
                                           memory.stream());
  });
  items = std::move(sorted_items);
}

}  // namespace csrkit::gpu

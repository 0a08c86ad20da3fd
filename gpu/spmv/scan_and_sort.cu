#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "gpu/spmv/scan_and_sort.h"

namespace csrkit::gpu {

void exclusive_sum(DeviceMemory& memory, Offset* numbers, Offset count) {
  if (count == 0) return;
  std::size_t bytes = 0;
  const cudaStream_t stream = memory.stream();
  CHECK_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, numbers, numbers, count, stream));
  const DeviceBuffer<std::byte> scratch(memory, static_cast<Offset>(bytes), "adding up counts");
  CHECK_CUDA(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, numbers, numbers, count, stream));
}

void sort_by_key(DeviceMemory& memory, DeviceBuffer<std::uint64_t>& keys,
                 DeviceBuffer<Index>& items) {
  const Offset count = items.size();
  if (count == 0) return;
  const cudaStream_t stream = memory.stream();
  const DeviceBuffer<std::uint64_t> sorted_keys(memory, count, "sorting rows by length");
  DeviceBuffer<Index> sorted_items(memory, count, "sorting rows by length");
  std::size_t bytes = 0;
  CHECK_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys.data(), sorted_keys.data(),
                                             items.data(), sorted_items.data(), count, 0, 64,
                                             stream));
  const DeviceBuffer<std::byte> scratch(memory, static_cast<Offset>(bytes),
                                        "sorting rows by length");
  CHECK_CUDA(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, keys.data(), sorted_keys.data(),
                                             items.data(), sorted_items.data(), count, 0, 64,
                                             stream));
  items = std::move(sorted_items);
}

}  // namespace csrkit::gpu

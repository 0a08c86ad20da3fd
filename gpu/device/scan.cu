#include <cub/device/device_scan.cuh>

#include "gpu/device/cub_scratch.h"
#include "gpu/device/scan.h"

namespace csrkit::gpu {

void exclusive_sum(DeviceMemory& memory, Offset* numbers, Offset count) {
  if (count == 0) return;
  with_cub_scratch(memory, "adding up counts", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, numbers, numbers, count, memory.stream());
  });
}

}  // namespace csrkit::gpu

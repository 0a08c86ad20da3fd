// What the plans of all operations own on a device.
#pragma once

#include <memory>

#include "core/contract/plan.h"
#include "gpu/device/device_buffer.h"
#include "gpu/device/streams/stream.h"
#include "gpu/device/timing/gpu_timer.h"
#include "gpu/device/timing/l2_flush.h"

namespace csrkit::gpu {

/// A stream, the account of the memory, a timer. Construct and use it in a DeviceScope of the
/// plan's device.
struct PlanResources {
  PlanResources(int device, const PlanOptions& options)
      : stream(static_cast<cudaStream_t>(options.where.stream)),
        memory(device, stream.get(), options.memory_limit_bytes) {}

  /// Queues a pass that evicts the operands from L2. Its memory is allocated at the first call.
  void evict_caches() {
    if (!flush_) flush_ = std::make_unique<L2Flush>(memory.device(), stream.get());
    flush_->run();
  }

  Stream stream;
  DeviceMemory memory;
  GpuTimer timer;

 private:
  std::unique_ptr<L2Flush> flush_;
};

}  // namespace csrkit::gpu

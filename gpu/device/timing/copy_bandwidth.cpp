#include "gpu/device/timing/copy_bandwidth.h"

#include "gpu/device/device_buffer.h"
#include "gpu/device/device_info.h"
#include "gpu/device/streams/stream.h"
#include "gpu/device/timing/gpu_timer.h"

namespace csrkit::gpu {

std::vector<double> copy_seconds(Offset bytes, int ordinal) {
  require_device(ordinal);
  const DeviceScope scope(ordinal);
  const Stream stream(nullptr);
  DeviceMemory memory(ordinal, stream.get(), 0);
  DeviceBuffer<char> from(memory, bytes, "the array to copy"), to(memory, bytes, "its copy");
  // Not zeros: a device may compress those and copy them faster.
  CHECK_CUDA(cudaMemsetAsync(from.data(), 0x5a, from.size_bytes(), stream.get()));
  const auto copy = [&] {
    CHECK_CUDA(cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyDeviceToDevice,
                               stream.get()));
  };
  for (int i = 0; i < 3; ++i) copy();
  GpuTimer timer;
  std::vector<double> seconds;
  for (int i = 0; i < 10; ++i) {
    timer.start(stream.get());
    copy();
    timer.stop(stream.get());
    seconds.push_back(timer.seconds());
  }
  return seconds;
}

}  // namespace csrkit::gpu

// Device memory of other processes of this host, by CUDA's interprocess (IPC) handles.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <utility>

namespace csrkit::gpu {

/// Names an allocation of cudaMalloc, from its first byte on, to another process.
struct MemoryName {
  unsigned char process[16] = {};  // the owner: it must not open its own handle
  const void* address = nullptr;   // for threads of the same process
  cudaIpcMemHandle_t handle = {};
};
/// Throws DeviceError where the system has no such handles.
MemoryName name_of_memory(void* allocation);

/// An allocation that kernels of the current device may read and write as long as this lives.
/// Throws DeviceError where they cannot.
class FarMemory {
 public:
  explicit FarMemory(const MemoryName& name);
  ~FarMemory();
  FarMemory(FarMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), is_opened_(other.is_opened_) {}
  FarMemory& operator=(FarMemory&&) = delete;
  FarMemory(const FarMemory&) = delete;
  FarMemory& operator=(const FarMemory&) = delete;
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  bool is_opened_ = false;
};

/// For a trial: a packed MemoryName of some memory of `device`. The memory stays until the process
/// ends. Throws DeviceError where there are no such handles.
std::string sample_memory(int device);
/// "" if `device` can read the memory of another process's sample, else the reason.
std::string why_not_read(int device, const std::string& sample);

}  // namespace csrkit::gpu

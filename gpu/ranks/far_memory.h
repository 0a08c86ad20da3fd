// Device memory of other processes of this host: CUDA's interprocess handles.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <utility>

namespace csrkit::gpu {

/// What another process needs to read an allocation of cudaMalloc from its first byte on.
struct MemoryName {
  unsigned char process[16] = {};  // whose it is: handles are for others
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

/// For a trial: bytes that name some memory of `device`, which stays until the process ends.
std::string sample_memory(int device);
/// "" if `device` reads what another process' sample names, or why not.
std::string why_not_read(int device, const std::string& sample);

}  // namespace csrkit::gpu

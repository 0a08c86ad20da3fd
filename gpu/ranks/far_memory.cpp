#include "gpu/ranks/far_memory.h"

#include <cstring>
#include <map>
#include <mutex>
#include <random>

#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/streams/stream.h"

namespace csrkit::gpu {

namespace {

// a whole page of the device, so an IPC handle exposes nothing else
constexpr std::size_t kSampleBytes = 2 << 20;
constexpr unsigned char kSampleByte = 0x3c;

/// A random token of this process: process numbers repeat between containers.
const unsigned char* this_process() {
  static const auto token = [] {
    struct Token {
      unsigned char bytes[sizeof MemoryName::process];
    } made = {};
    std::random_device random;
    for (unsigned char& byte : made.bytes) byte = static_cast<unsigned char>(random());
    return made;
  }();
  return token.bytes;
}

struct Sample {
  MemoryName name;
  std::string packed() const { return {reinterpret_cast<const char*>(&name), sizeof name}; }
};

}  // namespace

MemoryName name_of_memory(void* allocation) {
  MemoryName name;
  std::memcpy(name.process, this_process(), sizeof name.process);
  name.address = allocation;
  CHECK_CUDA(cudaIpcGetMemHandle(&name.handle, allocation));
  return name;
}

FarMemory::FarMemory(const MemoryName& name) {
  if (std::memcmp(name.process, this_process(), sizeof name.process) == 0) {
    data_ = static_cast<char*>(const_cast<void*>(name.address));
    return;
  }
  void* data = nullptr;
  const cudaError_t status =
      cudaIpcOpenMemHandle(&data, name.handle, cudaIpcMemLazyEnablePeerAccess);
  static_cast<void>(cudaGetLastError());
  CHECK_CUDA(status);
  data_ = static_cast<char*>(data);
  is_opened_ = true;
}

FarMemory::~FarMemory() {
  if (is_opened_ && data_ != nullptr) CHECK_CUDA_NOEXCEPT(cudaIpcCloseMemHandle(data_));
}

std::string sample_memory(int device) {
  static std::mutex mutex;
  static std::map<int, std::string> samples;
  const std::lock_guard<std::mutex> lock(mutex);
  std::string& sample = samples[device];
  if (!sample.empty()) return sample;
  const DeviceScope scope(device);
  void* data = nullptr;  // never freed: another process may read it as long as this one lives
  CHECK_CUDA(cudaMalloc(&data, kSampleBytes));
  CHECK_CUDA(cudaMemset(data, kSampleByte, kSampleBytes));
  CHECK_CUDA(cudaDeviceSynchronize());
  return sample = Sample{name_of_memory(data)}.packed();
}

std::string why_not_read(int device, const std::string& sample) {
  try {
    MemoryName name;
    if (sample.size() != sizeof name) return "it names none of its memory";
    std::memcpy(&name, sample.data(), sizeof name);
    const DeviceScope scope(device);
    const FarMemory memory(name);
    unsigned char byte = 0;
    CHECK_CUDA(cudaMemcpy(&byte, memory.data() + kSampleBytes - 1, 1, cudaMemcpyDefault));
    return byte == kSampleByte ? "" : "what is read there is not what was written";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace csrkit::gpu

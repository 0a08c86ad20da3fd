// Device memory: counted, limited, and released by its owner's destructor.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <utility>

#include "core/base/types.h"

namespace csrkit::gpu {

/// The account of everything one plan holds on a device. On each device the process's first few
/// allocations use cudaMalloc, all others a stream-ordered pool that the process keeps. The first
/// use of a pool takes milliseconds; after it an allocation costs about a microsecond, where
/// cudaMalloc costs tens.
class DeviceMemory {
 public:
  /// `limit_bytes` 0: no limit but the device's free memory.
  DeviceMemory(int device, cudaStream_t stream, std::uint64_t limit_bytes);

  /// Throws MemoryError, with needed, limit and free bytes, unless `bytes` more fit. Call it before
  /// the first allocation.
  void require(std::uint64_t bytes, const std::string& what) const;
  bool has(std::uint64_t bytes) const;

  /// Throws MemoryError beyond the limit, and where the device refuses. Without a limit it does not
  /// ask for free memory first: that takes time, and sparse products allocate while they are timed.
  void* allocate(std::uint64_t bytes, const char* what);
  void release(void* data, std::uint64_t bytes) noexcept;

  int device() const { return device_; }
  cudaStream_t stream() const { return stream_; }
  std::uint64_t used_bytes() const { return used_bytes_; }
  std::uint64_t peak_bytes() const { return peak_bytes_; }
  /// Starts a new peak at what is in use now.
  void reset_peak() { peak_bytes_ = used_bytes_; }
  /// What may still be allocated: within the limit, and free on the device.
  std::uint64_t available_bytes() const;

 private:
  bool is_within_limit(std::uint64_t bytes) const;

  int device_;
  cudaStream_t stream_;
  std::uint64_t limit_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

/// A move-only array on the device. Its contents start undefined. Its DeviceMemory must outlive it.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceMemory& memory, Offset size, const char* what)
      : memory_(&memory), size_(size) {
    if (size > 0) data_ = static_cast<T*>(memory.allocate(size_bytes(), what));
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) memory_->release(data_, size_bytes());
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : memory_(other.memory_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  T* data() const { return data_; }
  Offset size() const { return size_; }
  std::uint64_t size_bytes() const { return static_cast<std::uint64_t>(size_) * sizeof(T); }

 private:
  DeviceMemory* memory_ = nullptr;
  T* data_ = nullptr;
  Offset size_ = 0;
};

}  // namespace csrkit::gpu

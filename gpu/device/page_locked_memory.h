// Page-locked host memory: the device's copy engines access it directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace csrkit::gpu {

/// Large pages that exist before the driver locks them. That is eight times as fast as memory
/// allocated by the driver, which makes its pages one after the other
/// (docs/lab/2026-11-26-two-gpus-again.md).
class PageLockedMemory {
 public:
  PageLockedMemory() = default;
  /// `threads` threads (as in team_size) touch the pages first. Usable by all devices. Throws
  /// MemoryError.
  PageLockedMemory(std::uint64_t bytes, int threads);
  ~PageLockedMemory();
  PageLockedMemory(PageLockedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  PageLockedMemory& operator=(PageLockedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  PageLockedMemory(const PageLockedMemory&) = delete;
  PageLockedMemory& operator=(const PageLockedMemory&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::uint64_t size_bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace csrkit::gpu

// Memory for large arrays: aligned for SIMD and DMA, not initialised, so that the threads that will
// use a page are the first to touch it.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/base/types.h"

namespace csrkit {

/// A fixed-size, move-only, 64-byte aligned array of a trivial type. Contents start undefined.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "Buffer holds plain data");

 public:
  static constexpr std::size_t kAlignment = 64;

  Buffer() = default;

  /// Throws MemoryError when the machine refuses; `size` must not be negative.
  explicit Buffer(Offset size) : size_(size) {
    if (size < 0 || static_cast<std::size_t>(size) > (SIZE_MAX / 2) / sizeof(T)) {
      throw MemoryError("an array of " + std::to_string(size) + " elements cannot exist");
    }
    if (size == 0) return;
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    data_ = static_cast<T*>(::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow));
    if (data_ == nullptr) {
      throw MemoryError("not enough memory for an array of " + std::to_string(bytes) + " bytes");
    }
  }

  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { ::operator delete (data_, std::align_val_t{kAlignment}); }

  static Buffer copy_of(const T* source, Offset size) {
    Buffer copy(size);
    if (size > 0) std::memcpy(copy.data_, source, static_cast<std::size_t>(size) * sizeof(T));
    return copy;
  }

  /// Drops the elements from `size` on; their memory stays allocated.
  void truncate(Offset size) { size_ = size < size_ ? size : size_; }

  T* data() { return data_; }
  const T* data() const { return data_; }
  Offset size() const { return size_; }
  std::size_t size_bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }
  T& operator[](Offset i) { return data_[i]; }
  const T& operator[](Offset i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  Offset size_ = 0;
};

}  // namespace csrkit

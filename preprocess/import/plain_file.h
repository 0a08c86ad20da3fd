// Files without any header, whose meaning is their size and name: read as they are on disk.
#pragma once

#include <string>

#include "core/buffer.h"

namespace csrkit {

/// A regular file that is never taken for a compressed one, whatever its first bytes look like.
class PlainFile {
 public:
  /// IoError if it cannot be opened or is no regular file.
  explicit PlainFile(std::string path);
  ~PlainFile();
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size_bytes() const { return size_bytes_; }

  /// `count` elements from byte `offset` on; they must be there (the caller checked the size).
  template <class T>
  Buffer<T> read(std::uint64_t offset, Offset count) const {
    Buffer<T> elements(count);
    read_bytes(offset, elements.data(), elements.size_bytes());
    return elements;
  }

 private:
  void read_bytes(std::uint64_t offset, void* to, std::uint64_t bytes) const;

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_bytes_ = 0;
};

/// int32 row offsets become Offset.
Buffer<Offset> widen_offsets(const Buffer<std::int32_t>& offsets);

}  // namespace csrkit

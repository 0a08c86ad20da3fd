// Binary files from first byte to last: numbers and arrays in the byte order of the file.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "core/base/buffer.h"
#include "core/base/types.h"
#include "preprocess/import/source/byte_stream.h"

namespace csrkit {

enum class ByteOrder : std::uint8_t { little, big };

/// Reads the bytes of a source, plain or decompressed. A size that the file claims takes no memory
/// until its bytes have arrived.
class BinaryReader {
 public:
  BinaryReader(std::shared_ptr<ByteSource> source, ByteOrder order)
      : source_(std::move(source)), order_(order) {}

  const std::string& name() const { return source_->name(); }
  std::uint64_t position() const { return position_; }

  /// Messages name the number by `what`. InputError if the file ends before it.
  template <class T>
  T number(const char* what) {
    T value{};
    read(&value, sizeof value, what);
    return ordered(value);
  }

  template <class T>
  Buffer<T> array(Offset count, const char* what) {
    Buffer<T> elements(std::min(count, kFirstElements));
    for (Offset have = 0;;) {
      read(elements.data() + have, static_cast<std::size_t>(elements.size() - have) * sizeof(T),
           what);
      have = elements.size();
      if (have == count) break;
      Buffer<T> larger(have + std::min(count - have, have));
      std::copy_n(elements.data(), have, larger.data());
      elements = std::move(larger);
    }
    if (order_ == ByteOrder::big) {
      for (T& element : elements) element = ordered(element);
    }
    return elements;
  }

  void skip(std::uint64_t bytes, const char* what) {
    char ignored[4096];
    while (bytes > 0) {
      const std::size_t step = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 4096));
      read(ignored, step, what);
      bytes -= step;
    }
  }

  bool is_at_end() {
    if (!has_next_) has_next_ = source_->read(&next_, 1) == 1;
    return !has_next_;
  }

  /// Throws InputError "name: byte N: message".
  [[noreturn]] void refuse(std::uint64_t byte, const std::string& message) const;

 private:
  static constexpr Offset kFirstElements = 1 << 20;

  void read(void* to, std::size_t bytes, const char* what);

  template <class T>
  T ordered(T value) const {
    if (order_ == ByteOrder::little) return value;
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    std::reverse(bytes, bytes + sizeof value);
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  std::shared_ptr<ByteSource> source_;
  ByteOrder order_;
  std::uint64_t position_ = 0;
  bool has_next_ = false;  // is_at_end has read a byte ahead
  char next_ = 0;
};

/// The size of a file that is told by it. InputError if it is compressed.
std::uint64_t plain_size(const ByteSource& source);

/// Little-endian numbers in bytes that need not be aligned; for detection.
template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace csrkit

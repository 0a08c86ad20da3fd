// Bytes in memory, as a source that is mapped.
#pragma once

#include <string>
#include <utility>

#include "preprocess/import/source/byte_source.h"

namespace csrkit {

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string bytes, std::string name)
      : ByteSource(std::move(name), {}), bytes_(std::move(bytes)) {}

  std::string_view mapped() const override { return bytes_; }
  std::int64_t size_bytes() const override { return static_cast<std::int64_t>(bytes_.size()); }

  std::size_t read(char* to, std::size_t capacity) override {
    const std::size_t count = bytes_.copy(to, capacity, position_);
    position_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t position_ = 0;
};

}  // namespace csrkit

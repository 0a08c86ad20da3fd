#include "preprocess/import/binary/binary_reader.h"

#include "core/base/error.h"

namespace csrkit {

std::uint64_t plain_size(const ByteSource& source) {
  if (source.size_bytes() >= 0) return static_cast<std::uint64_t>(source.size_bytes());
  throw InputError(source.name() +
                   ": byte 0: expected a file as its program wrote it, found a compressed one; "
                   "decompress it first");
}

void BinaryReader::refuse(std::uint64_t byte, const std::string& message) const {
  throw InputError(name() + ": byte " + std::to_string(byte) + ": " + message);
}

void BinaryReader::read(void* to, std::size_t bytes, const char* what) {
  std::size_t done = 0;
  if (has_next_ && bytes > 0) {
    static_cast<char*>(to)[done++] = next_;
    has_next_ = false;
  }
  while (done < bytes) {
    const std::size_t count = source_->read(static_cast<char*>(to) + done, bytes - done);
    if (count == 0) {
      refuse(position_ + done, std::string("expected ") + what +
                                   ", found the end of the file; was it copied completely?");
    }
    done += count;
  }
  position_ += bytes;
}

}  // namespace csrkit

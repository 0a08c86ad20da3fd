// Files without any header, whose meaning is their size and name: read as they are on disk.
#pragma once

#include "core/base/buffer.h"
#include "core/base/input_file.h"

namespace csrkit {

/// `count` elements from byte `offset` on; they must be there (the caller checked the size).
template <class T>
Buffer<T> read_elements(const InputFile& file, std::uint64_t offset, Offset count) {
  Buffer<T> elements(count);
  file.read_at(offset, elements.data(), elements.size_bytes());
  return elements;
}

/// int32 row offsets become Offset.
Buffer<Offset> widen_offsets(const Buffer<std::int32_t>& offsets);

}  // namespace csrkit

// Compressed files, by their first bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace csrkit {

inline bool looks_gzipped(std::string_view head) { return head.substr(0, 3) == "\x1f\x8b\x08"; }
inline bool looks_bzipped(std::string_view head) { return head.substr(0, 3) == "BZh"; }
inline bool looks_xzipped(std::string_view head) {
  using namespace std::string_view_literals;
  return head.substr(0, 6) == "\xfd\x37zXZ\0"sv;
}

/// gzip, bzip2, xz or zstd.
inline bool looks_compressed(std::string_view head) {
  return looks_gzipped(head) || looks_bzipped(head) || looks_xzipped(head) ||
         head.substr(0, 4) == "\x28\xb5\x2f\xfd";
}

/// Throws InputError if the decompressed bytes begin like another compressed file.
inline void require_compressed_once(std::string_view decompressed, const std::string& name) {
  if (!looks_compressed(decompressed)) return;
  throw InputError(name +
                   ": byte 0: expected a file that is compressed once, found one that is "
                   "compressed several times; decompress it once");
}

/// The InputError for compressed data that cannot be read on from byte `position` of it.
[[noreturn]] inline void refuse_damaged_data(const std::string& name, std::uint64_t position,
                                             const std::string& reason) {
  throw InputError(name + ": byte " + std::to_string(position) +
                   ": the compressed data is damaged or cut short (" + reason +
                   "); fetch the file again");
}

}  // namespace csrkit

// Compressed files, by their first bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace csrkit {

/// As many bytes tell what compressed a file.
inline constexpr std::size_t kCompressedHeadBytes = 13;

inline bool looks_gzipped(std::string_view head) { return head.substr(0, 3) == "\x1f\x8b\x08"; }
inline bool looks_bzipped(std::string_view head) { return head.substr(0, 3) == "BZh"; }
inline bool looks_xzipped(std::string_view head) {
  using namespace std::string_view_literals;
  return head.substr(0, 6) == "\xfd\x37zXZ\0"sv;
}

/// A frame of zstd, or one to skip: pzstd begins files with such a frame.
inline bool looks_zstandard(std::string_view head) {
  if (head.size() < 4) return false;
  return head.substr(0, 4) == "\x28\xb5\x2f\xfd" ||
         (head.substr(1, 3) == "\x2a\x4d\x18" && (head[0] & 0xf0) == 0x50);
}

/// The format before xz, which has no magic number: the usual properties, a dictionary of whole
/// 64 KiB, and the size of the content, which is unknown (all ones) or below 2^40.
inline bool looks_lzma(std::string_view head) {
  using namespace std::string_view_literals;
  return head.size() >= kCompressedHeadBytes && head.substr(0, 3) == "\x5d\0\0"sv &&
         head.substr(3, 2) != "\0\0"sv &&
         (head.substr(5, 8) == "\xff\xff\xff\xff\xff\xff\xff\xff"sv ||
          head.substr(10, 3) == "\0\0\0"sv);
}

/// gzip, bzip2, xz, lzma or zstd.
inline bool looks_compressed(std::string_view head) {
  return looks_gzipped(head) || looks_bzipped(head) || looks_xzipped(head) || looks_lzma(head) ||
         looks_zstandard(head);
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

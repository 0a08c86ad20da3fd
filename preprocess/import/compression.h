// Compressed files, by their first bytes.
#pragma once

#include <string_view>

namespace csrkit {

inline bool looks_gzipped(std::string_view head) { return head.substr(0, 3) == "\x1f\x8b\x08"; }

/// gzip, bzip2, xz or zstd.
inline bool looks_compressed(std::string_view head) {
  using namespace std::string_view_literals;
  constexpr std::string_view kXz = "\xfd\x37zXZ\0"sv;
  return looks_gzipped(head) || head.substr(0, 3) == "BZh" || head.substr(0, 6) == kXz ||
         head.substr(0, 4) == "\x28\xb5\x2f\xfd";
}

}  // namespace csrkit

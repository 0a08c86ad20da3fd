// How much memory and time a file may demand.
#pragma once

#include <cstdint>

namespace csrkit {

/// Limits of a file's size and lines, so that a small file cannot take all memory or time.
struct SourceLimits {
  std::uint64_t line_bytes = std::uint64_t{32} << 20;
  std::uint64_t expansion = 1000;  // bytes decompressed or in holes, per byte on the disk...
  static constexpr std::uint64_t kAlwaysBytes = std::uint64_t{64} << 20;  // ...beyond these

  std::uint64_t decompressed_bytes(std::uint64_t disk_bytes) const;
};

}  // namespace csrkit

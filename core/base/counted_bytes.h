// Numbers of bytes in sentences.
#pragma once

#include <cstdint>
#include <string>

namespace csrkit {

/// "1 byte", "112 bytes".
inline std::string counted_bytes(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace csrkit

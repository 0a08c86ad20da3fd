// The identity of a file's content, for provenance and records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace csrkit {

struct FileDigest {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::string xxh3_128;  // 32 hex digits: XXH3 with 128 bits over all bytes
};

/// Reads the whole file. Throws IoError.
FileDigest digest_file(const std::string& path);

/// The same digest of bytes in memory.
std::string digest_bytes(const void* data, std::size_t size);

}  // namespace csrkit

// The identity of a file's content, for provenance and records.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace csrkit {

struct FileDigest {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::string xxh3_128;  // 32 hex digits: XXH3 with 128 bits over all bytes
};

/// XXH3 with 128 bits over bytes that are added piece by piece, in order.
class DigestStream {
 public:
  DigestStream();
  void add(const void* data, std::size_t size);
  /// 32 hex digits of all bytes so far.
  std::string hex() const;

 private:
  std::shared_ptr<void> state_;
};

/// Reads the whole file. When `is_cancelled`, if given, becomes true, it returns early, with the
/// digest of a part. Throws IoError.
FileDigest digest_file(const std::string& path, const std::atomic<bool>* is_cancelled = nullptr);

/// The same digest of bytes in memory.
std::string digest_bytes(const void* data, std::size_t size);

}  // namespace csrkit

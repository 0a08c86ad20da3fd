#include "core/base/file_digest.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "core/base/error.h"
#include "core/base/input_file.h"

namespace csrkit {

namespace {

std::string hex_of(const XXH128_hash_t& hash) {
  char hex[33];
  std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return hex;
}

}  // namespace

std::string digest_bytes(const void* data, std::size_t size) {
  return hex_of(XXH3_128bits(data, size));
}

DigestStream::DigestStream()
    : state_(XXH3_createState(),
             [](void* state) { XXH3_freeState(static_cast<XXH3_state_t*>(state)); }) {
  if (!state_) throw MemoryError("not enough memory for a checksum");
  XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_.get()));
}

void DigestStream::add(const void* data, std::size_t size) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_.get()), data, size);
}

std::string DigestStream::hex() const {
  return hex_of(XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_.get())));
}

FileDigest digest_file(const std::string& path, const std::atomic<bool>* is_cancelled) {
  const InputFile file(path);
  DigestStream stream;
  std::vector<char> chunk(1 << 20);
  FileDigest digest;
  digest.path = path;
  while (digest.size_bytes < file.size_bytes() && !(is_cancelled != nullptr && *is_cancelled)) {
    const std::uint64_t count =
        std::min<std::uint64_t>(chunk.size(), file.size_bytes() - digest.size_bytes);
    file.read_at(digest.size_bytes, chunk.data(), count);
    stream.add(chunk.data(), count);
    digest.size_bytes += count;
  }
  digest.xxh3_128 = stream.hex();
  return digest;
}

}  // namespace csrkit

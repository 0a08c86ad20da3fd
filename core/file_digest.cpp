#include "core/file_digest.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "core/error.h"

namespace csrkit {

namespace {

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw IoError(path + ": cannot " + what + ": " + std::strerror(errno));
}

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

FileDigest digest_file(const std::string& path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) fail(path, "open");
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  if (!state) throw MemoryError("not enough memory for a checksum");
  XXH3_128bits_reset(state.get());
  std::vector<char> chunk(1 << 20);
  FileDigest digest;
  digest.path = path;
  for (;;) {
    const ssize_t got = read(file.number, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "read");
    if (got == 0) break;
    XXH3_128bits_update(state.get(), chunk.data(), static_cast<std::size_t>(got));
    digest.size_bytes += static_cast<std::uint64_t>(got);
  }
  digest.xxh3_128 = hex_of(XXH3_128bits_digest(state.get()));
  return digest;
}

}  // namespace csrkit

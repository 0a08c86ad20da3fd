#include "preprocess/import/plain_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace csrkit {

PlainFile::PlainFile(std::string path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw IoError(path_ + ": cannot be opened: " + std::strerror(errno));
  struct stat status {};
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    throw IoError(path_ + ": expected a regular file; save its content in a file first");
  }
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
}

PlainFile::~PlainFile() { close(descriptor_); }

void PlainFile::read_bytes(std::uint64_t offset, void* to, std::uint64_t bytes) const {
  constexpr std::uint64_t kStep = 1u << 30;  // the system reads at most 2 GiB at once
  char* out = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t count =
        pread(descriptor_, out, std::min(bytes, kStep), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw IoError(path_ + ": cannot be read: " + std::strerror(errno));
    if (count == 0) throw IoError(path_ + ": became shorter while it was read");
    out += count;
    offset += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::uint64_t>(count);
  }
}

Buffer<Offset> widen_offsets(const Buffer<std::int32_t>& offsets) {
  Buffer<Offset> wide(offsets.size());
#pragma omp parallel for schedule(static)
  for (Offset i = 0; i < offsets.size(); ++i) wide[i] = offsets[i];
  return wide;
}

}  // namespace csrkit

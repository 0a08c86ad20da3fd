#include "preprocess/import/source/pipe_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/base/error.h"

namespace csrkit {

namespace {

constexpr std::size_t kHeadBytes = 1 << 16;
constexpr auto kPatience = std::chrono::seconds(5);

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw IoError("cannot read '" + path + "': " + what);
}

}  // namespace

bool is_pipe(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

PipeSource::PipeSource(const std::string& path, const SourceLimits& limits)
    : ByteSource(path, limits) {
  // Opened without waiting: a FIFO without a writer would hold this process for ever.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail(path, std::string("it cannot be opened: ") + std::strerror(errno));
  try {
    head_.resize(kHeadBytes);
    wait_for_writer();
    while (head_given_ < kHeadBytes && !is_at_end_) {
      head_given_ += read_some(head_.data() + head_given_, kHeadBytes - head_given_);
    }
    head_.resize(head_given_);
    head_given_ = 0;
    if (looks_compressed(head_)) {
      throw InputError(path +
                       ": byte 0: expected text from a pipe, found compressed data; decompress it "
                       "on the way, or save it in a file first");
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

PipeSource::~PipeSource() { ::close(descriptor_); }

/// Without a writer a read says "end" at once. That is the end only if there was one.
void PipeSource::wait_for_writer() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    pollfd wanted{descriptor_, POLLIN, 0};
    constexpr int kMilliseconds = 100;
    if (::poll(&wanted, 1, kMilliseconds) > 0) return;  // data, or a writer that came and left
    const ssize_t got = ::read(descriptor_, head_.data(), 1);
    if (got > 0) {
      digest_.add(head_.data(), 1);
      size_ = head_given_ = 1;
      return;
    }
    // EAGAIN: somebody has the other end open and has written nothing yet.
    if (got == 0 && std::chrono::steady_clock::now() > end) {
      fail(name(), "nobody has written into this pipe for 5 seconds");
    }
  }
}

std::size_t PipeSource::read_some(char* to, std::size_t capacity) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, capacity);
    if (got >= 0) {
      is_at_end_ = got == 0;
      const auto count = static_cast<std::size_t>(got);
      digest_.add(to, count);
      size_ += count;
      return count;
    }
    if (errno == EAGAIN) {
      pollfd wanted{descriptor_, POLLIN, 0};
      ::poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      fail(name(), std::strerror(errno));
    }
  }
}

std::size_t PipeSource::read(char* to, std::size_t capacity) {
  std::size_t done = std::min(capacity, head_.size() - head_given_);
  std::memcpy(to, head_.data() + head_given_, done);
  head_given_ += done;
  while (done < capacity && !is_at_end_) done += read_some(to + done, capacity - done);
  return done;
}

FileDigest PipeSource::finish() {
  char rest[1 << 12];
  while (!is_at_end_) read_some(rest, sizeof rest);
  return {name(), size_, digest_.hex()};
}

}  // namespace csrkit

#include "core/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"

namespace csrkit {

namespace {

constexpr std::uint64_t kPieceBytes = 1u << 26;  // Linux moves less than 2 GiB per call

[[noreturn]] void refuse_length(const std::string& place, std::uint64_t limit, const char* what) {
  throw InputError(place + ": expected at most " + counted(limit, "byte") + " in a " + what +
                   ", found more; is this the right kind of file?");
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor_ < 0) fail("it cannot be opened", errno);
  struct stat status {};
  const int result = ::fstat(descriptor_, &status);
  if (result != 0 || !S_ISREG(status.st_mode)) {
    const int reason = errno;
    ::close(descriptor_);
    if (result != 0) fail("its size cannot be found", reason);
    throw IoError("cannot read '" + path_ + "': expected a regular file, found " +
                  (S_ISDIR(status.st_mode) ? "a folder"
                                           : "a pipe or device; save its content in a file first"));
  }
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::fail(const char* step, int reason) const {
  throw IoError("cannot read '" + path_ + "': " + step + ": " + std::strerror(reason));
}

void InputFile::read_at(std::uint64_t offset, void* to, std::uint64_t bytes) const {
  char* out = static_cast<char*>(to);
  while (bytes > 0) {
    const auto piece = static_cast<std::size_t>(std::min(bytes, kPieceBytes));
    const ssize_t got = ::pread(descriptor_, out, piece, static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      fail("reading failed", errno);
    }
    if (got == 0) {
      throw InputError(path_ + ": byte " + std::to_string(offset) + ": expected " +
                       counted(bytes, "more byte") +
                       ", found the end of the file: it shrank while being read; try "
                       "again");
    }
    out += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
}

std::string read_whole_file(const std::string& path, std::uint64_t limit_bytes) {
  const InputFile file(path);
  if (file.size_bytes() > limit_bytes) {
    refuse_length(path + ": byte " + std::to_string(limit_bytes), limit_bytes, "file of this kind");
  }
  std::string content(file.size_bytes(), '\0');
  file.read_at(0, content.data(), content.size());
  return content;
}

void for_each_line(const std::string& path, std::uint64_t limit_bytes,
                   const std::function<void(const TextLine&)>& use) {
  constexpr std::uint64_t kChunkBytes = 1u << 20;
  const InputFile file(path);
  std::string held;  // from the first byte of the current line on
  TextLine line;
  for (std::uint64_t at = 0; at < file.size_bytes();) {
    const std::size_t searched = held.size();
    const std::uint64_t count = std::min(kChunkBytes, file.size_bytes() - at);
    held.resize(searched + count);
    file.read_at(at, held.data() + searched, count);
    at += count;
    std::size_t begin = 0;
    for (std::size_t end = held.find('\n', searched); end != std::string::npos;
         end = held.find('\n', begin)) {
      line.text = std::string_view(held).substr(begin, end - begin);
      line.next_begin += end + 1 - begin;
      ++line.number;
      if (line.text.size() > limit_bytes) {
        refuse_length(path + ":" + std::to_string(line.number), limit_bytes, "line");
      }
      use(line);
      begin = end + 1;
    }
    held.erase(0, begin);
    if (held.size() > limit_bytes) {
      refuse_length(path + ":" + std::to_string(line.number + 1), limit_bytes, "line");
    }
  }
  if (held.empty()) return;
  line.text = held;
  line.next_begin += held.size();
  ++line.number;
  line.has_end = false;
  use(line);
}

}  // namespace csrkit

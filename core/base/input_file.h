// A regular file, open for reading: the one way in which input files are opened.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace csrkit {

/// Opening never waits: a pipe, a device or a folder is refused at once with IoError. Those have no
/// size that numbers can be checked against, and a pipe without a writer would block for ever.
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  /// The size when the file was opened.
  std::uint64_t size_bytes() const { return size_bytes_; }

  /// Reads exactly `bytes` from `offset` on. Throws IoError if the system refuses, InputError if
  /// the file ends before. Several threads may read at once.
  void read_at(std::uint64_t offset, void* to, std::uint64_t bytes) const;

  /// Throws IoError that names the file, the step and the system's reason (an errno).
  [[noreturn]] void fail(const char* step, int reason) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_bytes_ = 0;
};

/// The whole content. Throws IoError, and InputError if there are more than `limit_bytes`.
std::string read_whole_file(const std::string& path, std::uint64_t limit_bytes);

/// One line of a text file, without its end.
struct TextLine {
  std::string_view text;
  std::uint64_t number = 0;      // from 1
  std::uint64_t next_begin = 0;  // byte at which the next line begins
  bool has_end = true;           // false for a last line without '\n'
};

/// Calls `use` for every line from first to last, and holds one line at a time. Throws IoError, and
/// InputError for a line of more than `limit_bytes`.
void for_each_line(const std::string& path, std::uint64_t limit_bytes,
                   const std::function<void(const TextLine&)>& use);

}  // namespace csrkit

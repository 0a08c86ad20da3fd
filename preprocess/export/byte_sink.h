// Where exported bytes go: straight into a file, or compressed on the way.
#pragma once

#include <memory>
#include <string>

#include "core/base/atomic_file.h"

struct archive;

namespace csrkit {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(const char* data, std::size_t bytes) = 0;
  /// Makes the file appear under its name.
  virtual void finish() = 0;
};

std::unique_ptr<ByteSink> plain_sink(const std::string& path);
/// The same, but "-" is standard output.
std::unique_ptr<ByteSink> text_sink(const std::string& path);
/// The bytes depend only on the content: the header holds no name and no time.
std::unique_ptr<ByteSink> gzip_sink(const std::string& path);

/// A zip file, member after member.
class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  /// Exactly `bytes` bytes must follow in calls of `write`.
  void begin_member(const std::string& name, std::uint64_t bytes);
  void write(const void* data, std::uint64_t bytes);
  void finish();

 private:
  AtomicFile file_;
  archive* handle_ = nullptr;
};

}  // namespace csrkit

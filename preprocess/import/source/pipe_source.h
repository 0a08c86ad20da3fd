// Text from a pipe: read once, from first byte to last.
#pragma once

#include <string>
#include <string_view>

#include "core/base/file_digest.h"
#include "preprocess/import/source/byte_source.h"

namespace csrkit {

/// Whether `path` is a pipe: a FIFO, or /dev/stdin behind one. False for what does not exist.
bool is_pipe(const std::string& path);

/// The content of a pipe, as a source whose first bytes can be seen before it is read. Reading
/// waits for the writer as long as there is one.
class PipeSource : public ByteSource {
 public:
  /// Throws IoError if the pipe cannot be opened or no process opens its other end in 5 seconds,
  /// and InputError for compressed data, which is not decompressed here.
  PipeSource(const std::string& path, const SourceLimits& limits);
  ~PipeSource() override;
  PipeSource(const PipeSource&) = delete;
  PipeSource& operator=(const PipeSource&) = delete;

  /// The first bytes, up to 64 KiB; read gives them again.
  std::string_view head() const { return head_; }
  bool head_is_whole() const { return is_at_end_; }

  std::size_t read(char* to, std::size_t capacity) override;

  /// Reads the rest, so that the writer is not cut off, and returns the digest of all bytes.
  FileDigest finish();

 private:
  std::size_t read_some(char* to, std::size_t capacity);
  void wait_for_writer();

  int descriptor_ = -1;
  std::string head_;
  std::size_t head_given_ = 0;
  bool is_at_end_ = false;
  DigestStream digest_;
  std::uint64_t size_ = 0;
};

}  // namespace csrkit

// A stream of bytes from any source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "preprocess/import/source/source_limits.h"

namespace csrkit {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  const SourceLimits& limits() const { return limits_; }

  /// Its name in messages: "graph.mtx.gz" or "west.tar.gz(west/west.mtx)".
  const std::string& name() const { return name_; }

  /// All bytes if they are in memory already (a mapped file), else an empty view. The view is valid
  /// as long as the source, and `read` does not change it.
  virtual std::string_view mapped() const { return {}; }

  /// The next bytes, at most `capacity`; 0 only at the end. Throws InputError if the compressed
  /// data is damaged or cut, IoError if the system refuses.
  virtual std::size_t read(char* to, std::size_t capacity) = 0;

  /// The number of decompressed bytes if it is certain (plain files), else -1.
  virtual std::int64_t size_bytes() const { return -1; }

  /// Whether the bytes are decompressed on the way. Their number is then unknown before the end.
  virtual bool is_compressed() const { return false; }

 protected:
  ByteSource(std::string name, const SourceLimits& limits)
      : name_(std::move(name)), limits_(limits) {}

 private:
  std::string name_;
  SourceLimits limits_;
};

}  // namespace csrkit

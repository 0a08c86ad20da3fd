// A file, or one member of an archive, as a stream of bytes: plain, or decompressed on the way.
//
// Compression and archives are told by content, never by name. Plain files are mapped; gzip, zstd,
// bzip2 and xz go through libarchive, as do the members of tar (compressed or not) and zip files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/buffer.h"
#include "preprocess/import/archive_walk.h"
#include "preprocess/import/source_limits.h"

namespace csrkit {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  const SourceLimits& limits() const { return limits_; }

  /// What messages call it: "graph.mtx.gz" or "west.tar.gz(west/west.mtx)".
  const std::string& name() const { return name_; }

  /// All bytes at once if they lie in memory already (a mapped file), else an empty view. The view
  /// lives as long as the source, and is not affected by `read`.
  virtual std::string_view mapped() const { return {}; }

  /// The next bytes, at most `capacity`; 0 only at the end. Throws InputError if the compressed
  /// data is damaged or cut, IoError if the system refuses.
  virtual std::size_t read(char* to, std::size_t capacity) = 0;

  /// Size of the decompressed bytes if it is known for sure (plain files), else -1.
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

/// Whether these first bytes are those of a compressed file.
bool looks_compressed(std::string_view head);

/// Opens a regular file. IoError if it cannot be opened or is no regular file, InputError if it is
/// compressed more than once.
std::unique_ptr<ByteSource> open_file(const std::string& path, const SourceLimits& limits = {});

/// The same interface over bytes in memory (borrowed); tests and small members.
std::unique_ptr<ByteSource> open_bytes(std::string_view bytes, std::string name,
                                       const SourceLimits& limits = {});

/// The regular files in a tar (plain or compressed) or zip file, in archive order.
std::vector<ArchiveMember> list_archive(const std::string& path, const SourceLimits& limits = {});

/// Opens one member by its exact name; InputError if there is none. Reading is sequential, so each
/// open of a compressed tar decompresses what lies before the member.
std::unique_ptr<ByteSource> open_archive_member(const std::string& path, const std::string& member,
                                                const SourceLimits& limits = {});

/// Everything that is left in the source. Throws InputError if that is more than `limit_bytes`. For
/// mapped files prefer `mapped()`.
Buffer<char> read_all(ByteSource& source, std::uint64_t limit_bytes);

}  // namespace csrkit

// Reads a compressed file or an archive by libarchive, member by member, within limits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "preprocess/import/source/source_limits.h"

namespace csrkit {

class ByteSource;

struct ArchiveMember {
  std::string name;
  std::int64_t size_bytes = -1;  // as the archive claims; -1 = it does not say
};

enum class ArchiveLayout { single_file, members };

/// Throws InputError for damaged content, IoError if the system refuses to read, MemoryError.
class ArchiveWalk {
 public:
  /// The members of an uncompressed archive, or the content of a file that bzip2, xz, lzma or zstd
  /// compressed. Refuses a file that is compressed more than once.
  ArchiveWalk(const std::string& path, ArchiveLayout layout, const SourceLimits& limits);
  /// An archive in a stream: compressed, or a member of another one. It may give at most
  /// `limit_bytes`.
  ArchiveWalk(std::unique_ptr<ByteSource> stream, std::uint64_t limit_bytes);
  ~ArchiveWalk();
  ArchiveWalk(ArchiveWalk&&) noexcept;
  ArchiveWalk(const ArchiveWalk&) = delete;
  ArchiveWalk& operator=(const ArchiveWalk&) = delete;

  /// Goes to the next member; false at the end.
  bool next();
  bool is_regular_file() const;
  ArchiveMember member() const;

  /// The next bytes of the member; 0 at its end. Messages name it by `name`.
  std::size_t read(char* to, std::size_t capacity, const std::string& name);

  /// The largest number of bytes that it may give.
  std::uint64_t limit_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Throws InputError: `name` holds more than `limit` bytes.
[[noreturn]] void refuse_expansion(const std::string& name, std::uint64_t limit);

}  // namespace csrkit

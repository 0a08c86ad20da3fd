// libarchive, as csrkit uses it: a compressed file or an archive, member by member, within limits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "preprocess/import/source_limits.h"

namespace csrkit {

class ByteSource;

struct ArchiveMember {
  std::string name;
  std::int64_t size_bytes = -1;  // as the archive claims; -1 = it does not say
};

enum class ArchiveLayout { single_file, members };

/// Throws InputError for damaged content, IoError where the system refuses to read, MemoryError.
class ArchiveWalk {
 public:
  /// The members of an archive that is not compressed, or the one of a file that is compressed with
  /// bzip2, xz or zstd. Refuses what is compressed more than once.
  ArchiveWalk(const std::string& path, ArchiveLayout layout, const SourceLimits& limits);
  /// An archive in a stream: compressed, or a member of another one. At most `limit_bytes` may come
  /// out.
  ArchiveWalk(std::unique_ptr<ByteSource> stream, std::uint64_t limit_bytes);
  ~ArchiveWalk();
  ArchiveWalk(ArchiveWalk&&) noexcept;
  ArchiveWalk(const ArchiveWalk&) = delete;
  ArchiveWalk& operator=(const ArchiveWalk&) = delete;

  /// Goes to the next member; false at the end.
  bool next();
  bool is_regular_file() const;
  ArchiveMember member() const;

  /// The next bytes of the member; 0 at its end. `name` is what messages call it.
  std::size_t read(char* to, std::size_t capacity, const std::string& name);

  /// Most bytes that may come out.
  std::uint64_t limit_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The InputError for more than `limit` bytes.
[[noreturn]] void refuse_expansion(const std::string& name, std::uint64_t limit);

}  // namespace csrkit

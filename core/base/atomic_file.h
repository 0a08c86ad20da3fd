// A file that appears under its name complete or not at all.
#pragma once

#include <cstdint>
#include <string>

namespace csrkit {

/// Creates `NAME.tmp.PLACE.PID.RANDOM` in the folder of `path` (a long NAME is cut), and gives it
/// its final name in `commit()`, between fsync of the file and fsync of the folder. Before that the
/// destructor and the signals that end a tool (see remove_pending_temporaries) remove the temporary
/// and leave a file of the final name untouched. IoError if `path` is no regular file (a pipe,
/// /dev/stdout): it could not be replaced by a renamed one.
/// A symbolic link is followed: the file it points at is replaced, the link stays. Permissions are
/// those of any new file (umask).
///
/// The constructor also removes temporaries of this user in that folder whose process is gone.
/// `PLACE` is the boot of a machine and the container: temporaries of other places stay.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  /// Opens the temporary that another process, or another part of this one, made for `path`, to
  /// write parts of it. The maker commits it, after all others have called sync(). If this object
  /// is destroyed before that, or on a signal, it removes the temporary: half a file is of no use.
  AtomicFile(std::string path, const std::string& temporary);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  /// For the other constructor: a path that holds in the same current directory.
  std::string temporary_path() const;

  /// Appends at `position()`. Throws IoError naming the file and the system's reason (disk full).
  void write(const void* data, std::uint64_t bytes);
  /// Writes at `offset` without moving `position()`; several threads may do so at once.
  void write_at(std::uint64_t offset, const void* data, std::uint64_t bytes);
  std::uint64_t position() const { return position_; }

  /// Returns when all written bytes are on the disk.
  void sync();
  void commit();

 private:
  void arm() noexcept;
  void discard() noexcept;
  bool give_name(bool replaces);
  [[noreturn]] void fail(const char* step, int reason) const;

  std::string path_;
  std::string folder_name_, final_name_;  // links resolved
  std::string temporary_;                 // in the folder; "" once committed
  int folder_ = -1;  // a descriptor: the current directory may change meanwhile
  int descriptor_ = -1;
  int registry_slot_ = -1;
  std::uint64_t position_ = 0;
};

/// Writes all of it at `offset` of an open file. Returns 0, or the errno of what failed.
int write_fully(int descriptor, std::uint64_t offset, const void* data, std::uint64_t bytes);

/// For a caller that found no file of this name and wants none replaced: if another process makes
/// one before the next commit of exactly this path, that commit throws IoError and the file stays.
void never_replace(const std::string& path);

/// Unlinks every uncommitted temporary of this process. Async-signal-safe.
void remove_pending_temporaries() noexcept;

}  // namespace csrkit

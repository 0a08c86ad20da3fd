// A file that appears under its name complete or not at all.
#pragma once

#include <cstdint>
#include <string>

namespace csrkit {

/// Creates `NAME.tmp.PLACE.PID.RANDOM` in the folder of `path` (of a long name only the beginning),
/// and gives it its final name in `commit()`, after fsync of the file and before fsync of the
/// folder. Destroyed without commit, or on SIGINT and SIGTERM (see remove_pending_temporaries), the
/// temporary is removed, and what was under the final name before stays untouched. Other than a
/// regular file (/dev/stdout, a pipe, a device) is refused with IoError: it cannot be renamed over.
/// A symbolic link is followed: the file it points at is replaced, the link stays. Permissions are
/// those of any new file (umask).
///
/// Such temporaries of the same user in that folder are removed if their process is gone. `PLACE`
/// says where that can be known: the boot of a machine and the container. Others are left alone.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  /// Opens the temporary that another process, or another part of this one, made for `path`, to
  /// write parts of it. Who made it commits, after all others have called sync(). Destroyed before
  /// that, or on a signal, this one removes the temporary, too: half a file is of no use.
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
  /// Writes somewhere without moving `position()`; several threads may do so at once.
  void write_at(std::uint64_t offset, const void* data, std::uint64_t bytes);
  std::uint64_t position() const { return position_; }

  /// Returns when what was written is on the disk.
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

/// The caller has seen that no file has this name and wants none replaced: if another process makes
/// one before the next commit of exactly this path, that commit throws IoError, and the file stays.
void never_replace(const std::string& path);

/// Unlinks every uncommitted temporary of this process. Async-signal-safe.
void remove_pending_temporaries() noexcept;

}  // namespace csrkit

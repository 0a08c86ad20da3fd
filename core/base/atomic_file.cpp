#include "core/base/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/base/error.h"

namespace csrkit {

namespace {

// A signal handler may neither allocate nor lock, so the unfinished files stand in a fixed array.
// The owner fills a slot before it says `kArmed`; the handler reads only armed slots. The process
// id keeps a forked child from removing what its parent still writes.
enum SlotState : int { kFree, kBusy, kArmed };

struct PendingTemporary {
  std::atomic<int> state{kFree};
  pid_t process = 0;
  int folder = -1;
  char name[256] = {};
};
static_assert(std::atomic<int>::is_always_lock_free);

std::array<PendingTemporary, 64> pending;

int claim_slot() {
  for (std::size_t i = 0; i < pending.size(); ++i) {
    int expected = kFree;
    if (pending[i].state.compare_exchange_strong(expected, kBusy)) return static_cast<int>(i);
  }
  return -1;
}

/// Paths that must be new (see never_replace).
class NewPaths {
 public:
  void insert(const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.insert(path);
  }
  void erase(const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.erase(path);
  }
  bool contains(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return paths_.count(path) > 0;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> paths_;
};

NewPaths& new_paths() {
  static NewPaths paths;
  return paths;
}

constexpr char kMark[] = ".tmp.";

/// Where process ids mean what they mean here: this boot of this machine, this container. "" if the
/// system does not tell.
const std::string& place_of_processes() {
  static const std::string place = [] {
    char boot[64] = {};
    const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : ::read(file, boot, sizeof boot);
    if (file >= 0) ::close(file);
    struct stat space {};
    if (size < 8 || ::stat("/proc/self/ns/pid", &space) != 0) return std::string();
    char text[64];
    std::snprintf(text, sizeof text, "%.8s%lx", boot, static_cast<unsigned long>(space.st_ino));
    return std::string(text);
  }();
  return place;
}

std::string random_suffix() {
  static std::atomic<unsigned> counter{0};  // should two calls ever draw the same number
  std::random_device device;
  char text[128];
  std::snprintf(text, sizeof text, "%s%s.%ld.%08x%02x", kMark, place_of_processes().c_str(),
                static_cast<long>(::getpid()), device(), counter++ & 0xffu);
  return text;
}

/// The name and then the suffix. If the folder's file system does not allow so many bytes, the name
/// is cut, but not inside a UTF-8 character: some file systems refuse those.
std::string named_beside(int folder, const std::string& name, const std::string& suffix) {
  const long limit = ::fpathconf(folder, _PC_NAME_MAX);
  const std::size_t most = limit > 0 ? static_cast<std::size_t>(limit) : 255;
  if (name.size() + suffix.size() <= most || most <= suffix.size()) return name + suffix;
  std::size_t kept = most - suffix.size();
  while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xc0u) == 0x80u) --kept;
  return name.substr(0, kept) + suffix;
}

/// Whether a file of this name was made by random_suffix in a process of this place that is gone.
bool is_left_over(const char* name) {
  const std::string& place = place_of_processes();
  const char* mark = nullptr;  // the last one: a final name may hold another
  for (const char* at = std::strstr(name, kMark); at != nullptr; at = std::strstr(at + 1, kMark)) {
    mark = at;
  }
  if (place.empty() || mark == nullptr) return false;
  const char* at = mark + sizeof kMark - 1;
  if (std::strncmp(at, place.c_str(), place.size()) != 0 || at[place.size()] != '.') return false;
  long process = 0;
  int length = 0;
  char random[11] = {};
  constexpr int kWords = 2;
  if (std::sscanf(at + place.size() + 1, "%ld.%10[0-9a-f]%n", &process, random, &length) !=
          kWords ||
      std::strlen(random) != 10 ||
      at[place.size() + 1 + static_cast<std::size_t>(length)] != '\0') {
    return false;
  }
  return process > 0 && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

/// Removes what killed processes left in the folder. Whatever cannot be removed stays.
void remove_left_overs(int folder) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const list = copy < 0 ? nullptr : ::fdopendir(copy);
  if (list == nullptr) {
    if (copy >= 0) ::close(copy);
    return;
  }
  while (const dirent* entry = ::readdir(list)) {
    struct stat status {};
    if (is_left_over(entry->d_name) &&
        ::fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode) && status.st_uid == ::geteuid()) {
      ::unlinkat(folder, entry->d_name, 0);
    }
  }
  ::closedir(list);
}

std::pair<std::string, std::string> split_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// Whether a link is in /proc, where /dev/stdout and a shell's >(...) lead. Such a link stands for
/// an open file, and its target may name a pipe or a file that is gone.
bool is_of_proc(const std::string& link) {
  std::error_code unknown;
  const std::string folder = std::filesystem::canonical(split_folder(link).first, unknown).string();
  return folder.rfind("/proc/", 0) == 0;
}

/// Where a chain of symbolic links ends; the last target need not exist.
std::string follow_links(const std::string& first) {
  std::string path = first;
  for (int hops = 0; hops < 40; ++hops) {
    char target[4096];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length < 0) return path;  // no link, or nothing there yet
    if (is_of_proc(path)) {
      throw IoError("cannot write '" + first +
                    "': an output is a file, not standard output or a pipe; name one");
    }
    const std::string to(target, static_cast<std::size_t>(length));
    path = to.front() == '/' ? to : split_folder(path).first + "/" + to;
  }
  throw IoError("cannot write '" + first + "': too many levels of symbolic links");
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    throw IoError(
        "cannot write '-': an output is a file, not standard output; name one, or say ./-");
  }
  const auto [folder, name] = split_folder(follow_links(path_));
  if (name.empty() || name == "." || name == "..") {
    throw IoError("cannot write '" + path_ + "': it names a folder, not a file");
  }
  folder_name_ = folder;
  final_name_ = name;
  folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) fail("its folder cannot be opened", errno);
  struct stat status;
  const bool exists = ::fstatat(folder_, final_name_.c_str(), &status, 0) == 0;
  if (!exists && errno == ENAMETOOLONG) {  // the temporary's is cut and says nothing of this
    discard();
    fail("it cannot be made", ENAMETOOLONG);
  }
  if (exists && !S_ISREG(status.st_mode)) {
    discard();
    throw IoError("cannot write '" + path_ + "': it is " +
                  (S_ISDIR(status.st_mode) ? "a folder" : "no regular file") +
                  ", and output is completed under a temporary name first; name a file");
  }
  remove_left_overs(folder_);
  registry_slot_ = claim_slot();
  if (registry_slot_ < 0) {
    discard();
    throw IoError("cannot write '" + path_ + "': " + std::to_string(pending.size()) +
                  " other files are being written by this process");
  }
  // The slot is armed before the file exists: a signal in between finds nothing to remove.
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    temporary_ = named_beside(folder_, final_name_, random_suffix());
    arm();
    descriptor_ =
        ::openat(folder_, temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) break;
  }
  if (descriptor_ < 0) {
    const int reason = errno;
    temporary_.clear();
    discard();
    fail("a temporary file beside it cannot be made", reason);
  }
}

AtomicFile::AtomicFile(std::string path, const std::string& temporary) : path_(std::move(path)) {
  std::tie(folder_name_, temporary_) = split_folder(temporary);
  folder_ = ::open(folder_name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) {
    const int reason = errno;
    temporary_.clear();
    fail("its folder cannot be opened", reason);
  }
  descriptor_ = ::openat(folder_, temporary_.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0) {
    const int reason = errno;
    temporary_.clear();
    discard();
    fail("the temporary file beside it that another rank made cannot be opened", reason);
  }
  // Without a free slot only the process that made the temporary removes it.
  registry_slot_ = claim_slot();
  if (registry_slot_ >= 0) arm();
}

AtomicFile::~AtomicFile() { discard(); }

/// After this call a signal removes the temporary, even if it is made only later.
void AtomicFile::arm() noexcept {
  PendingTemporary& slot = pending[registry_slot_];
  slot.state = kBusy;
  slot.process = ::getpid();
  slot.folder = folder_;
  std::snprintf(slot.name, sizeof slot.name, "%s", temporary_.c_str());
  if (temporary_.size() < sizeof slot.name) slot.state = kArmed;
}

std::string AtomicFile::temporary_path() const { return folder_name_ + "/" + temporary_; }

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
  if (registry_slot_ >= 0) pending[registry_slot_].state = kFree;
  if (folder_ >= 0) ::close(folder_);
  descriptor_ = folder_ = registry_slot_ = -1;
  temporary_.clear();
}

void AtomicFile::fail(const char* step, int reason) const {
  const char* const advice = reason == ENOSPC || reason == EDQUOT
                                 ? "; make room there, or name a file elsewhere"
                             : reason == EFBIG ? "; raise the limit of file sizes (ulimit -f)"
                                               : "";
  throw IoError("cannot write '" + path_ + "': " + step + ": " + std::strerror(reason) + advice);
}

void AtomicFile::write(const void* data, std::uint64_t bytes) {
  write_at(position_, data, bytes);
  position_ += bytes;
}

void AtomicFile::write_at(std::uint64_t offset, const void* data, std::uint64_t bytes) {
  const int reason = write_fully(descriptor_, offset, data, bytes);
  if (reason != 0) fail("writing failed", reason);
}

int write_fully(int descriptor, std::uint64_t offset, const void* data, std::uint64_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    // Linux moves at most 2 GiB - 4 KiB per call. Smaller pieces keep a signal from waiting long.
    const std::size_t piece = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 1u << 26));
    const ssize_t written = ::pwrite(descriptor, from, piece, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    from += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::uint64_t>(written);
  }
  return 0;
}

void AtomicFile::sync() {
  while (::fsync(descriptor_) != 0) {
    if (errno != EINTR) fail("fsync failed", errno);
  }
}

/// Whether the temporary has its final name now; if not, errno says why.
bool AtomicFile::give_name(bool replaces) {
  const char *const from = temporary_.c_str(), *const to = final_name_.c_str();
  if (replaces) return ::renameat(folder_, from, folder_, to) == 0;
  if (::renameat2(folder_, from, folder_, to, RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // NFS knows no such renaming, but links never replace anything.
  if (::linkat(folder_, from, folder_, to, 0) == 0) return ::unlinkat(folder_, from, 0) == 0;
  if (errno == EEXIST || ::faccessat(folder_, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return false;
  }
  return ::renameat(folder_, from, folder_, to) == 0;  // a file system without links
}

void AtomicFile::commit() {
  sync();
  // A network file system may report a full disk only at close.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail("close failed", errno);
  const bool must_be_new = new_paths().contains(path_);
  if (!give_name(!must_be_new)) {
    if (must_be_new && errno == EEXIST) {
      throw IoError("cannot write '" + path_ +
                    "': another process has made it meanwhile, and it stays as it is; name another "
                    "file, or replace it with --force");
    }
    fail("its temporary cannot be renamed", errno);
  }
  temporary_.clear();
  new_paths().erase(path_);
  // Some file systems cannot sync folders and say EINVAL; their rename is as durable as it gets.
  while (::fsync(folder_) != 0) {
    if (errno == EINVAL) break;
    if (errno != EINTR) fail("fsync of its folder failed", errno);
  }
  discard();
}

void never_replace(const std::string& path) { new_paths().insert(path); }

void remove_pending_temporaries() noexcept {
  const int saved_errno = errno;
  for (PendingTemporary& slot : pending) {
    if (slot.state == kArmed && slot.process == ::getpid()) {
      ::unlinkat(slot.folder, slot.name, 0);
    }
  }
  errno = saved_errno;
}

}  // namespace csrkit

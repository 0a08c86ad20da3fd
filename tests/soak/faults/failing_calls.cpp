// Preloaded into a tool (LD_PRELOAD), makes one call to the system fail, be cut short, or be the
// last.
//
//   CSRKIT_FAULT="NAME NUMBER ACTION"  what happens at call NUMBER (from 1) of those called NAME
//       ACTION is an errno ("28"), an errno from that call on ("28+"), "short" (half of the bytes),
//       "kill" (SIGKILL before it happens) or "killed" (SIGKILL when it has happened)
//   CSRKIT_FAULT_LOG=FILE              one line for each call but the allocations: name, then its
//                                      file or descriptor; at the end "total NAME NUMBER" for each
//                                      NAME
//
// NAMEs: open, read, write, sync, close, rename, unlink, map, thread, allocate, and any for all
// that touch files together.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/soak/faults/fault_plan.h"

using namespace csrkit::faults;

namespace {

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

template <class Result>
Result after(Action action, Result result) {
  if (action == Action::kill_after) ::raise(SIGKILL);
  return result;
}

bool fails(Action action) {
  if (action != Action::fail) return false;
  errno = reason();
  return true;
}

std::size_t cut(Action action, std::size_t bytes) {
  return action == Action::cut && bytes > 1 ? bytes / 2 : bytes;
}

Action meet_open(const char* path, bool writes) {
  return meet(kOpen, writes ? "create" : "open", path, -1);
}
bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0; }

/// Allocations of libarchive itself do not count: some versions crash where one fails.
struct Excused {
  std::uintptr_t begin = 0, end = 0;

  static int look(dl_phdr_info* info, std::size_t, void* data) {
    if (std::strstr(info->dlpi_name, "libarchive") == nullptr) return 0;
    auto& excused = *static_cast<Excused*>(data);
    excused.begin = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& part = info->dlpi_phdr[i];
      excused.end =
          std::max<std::uintptr_t>(excused.end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
    }
    return 1;
  }
  bool holds(const void* caller) const {
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    return begin <= at && at < end;
  }
};
Excused excused;

using Main = int(int, char**, char**);
Main* real_main = nullptr;

int watched_main(int count, char** words, char** environment) {
  ::dl_iterate_phdr(Excused::look, &excused);
  std::atexit(end_plan);
  begin_plan();
  return real_main(count, words, environment);
}

bool allocation_fails(const void* caller) {
  if (excused.holds(caller)) return false;
  return fails(meet(kAllocate, "", nullptr, 0));
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

int __libc_start_main(Main* main, int count, char** words, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  real_main = main;
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return next<Start>("__libc_start_main")(watched_main, count, words, init, fini, rtld_fini,
                                          stack_end);
}

void* malloc(std::size_t bytes) {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocation_fails(__builtin_return_address(0)) ? nullptr
                                                       : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  if (allocation_fails(__builtin_return_address(0))) return ENOMEM;
  *to = __libc_memalign(alignment, bytes);
  return *to == nullptr ? ENOMEM : 0;
}

#define CSRKIT_MODE_OF(flags)                                       \
  mode_t mode = 0;                                                  \
  if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list rest;                                                   \
    va_start(rest, flags);                                          \
    mode = va_arg(rest, mode_t);                                    \
    va_end(rest);                                                   \
  }

int open(const char* path, int flags, ...) {
  CSRKIT_MODE_OF(flags)
  const Action action = meet_open(path, writes(flags));
  if (fails(action)) return -1;
  return after(action, static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode)));
}
int open64(const char* path, int flags, ...) {
  CSRKIT_MODE_OF(flags)
  return open(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  CSRKIT_MODE_OF(flags)
  const Action action = meet_open(path, writes(flags));
  if (fails(action)) return -1;
  return after(action, static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode)));
}
int openat64(int folder, const char* path, int flags, ...) {
  CSRKIT_MODE_OF(flags)
  return openat(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  const Action action = meet_open(path, mode[0] != 'r');
  if (fails(action)) return nullptr;
  return after(action, next<FILE*(const char*, const char*)>("fopen")(path, mode));
}
FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

ssize_t read(int file, void* to, std::size_t bytes) {
  const Action action = meet(kRead, "read", nullptr, file);
  if (fails(action)) return -1;
  return after(action, ::syscall(SYS_read, file, to, cut(action, bytes)));
}
ssize_t pread(int file, void* to, std::size_t bytes, off_t at) {
  const Action action = meet(kRead, "read", nullptr, file);
  if (fails(action)) return -1;
  return after(action, ::syscall(SYS_pread64, file, to, cut(action, bytes), at));
}
ssize_t pread64(int file, void* to, std::size_t bytes, off_t at) {
  return pread(file, to, bytes, at);
}
ssize_t write(int file, const void* from, std::size_t bytes) {
  const Action action = meet(kWrite, "write", nullptr, file);
  if (fails(action)) return -1;
  return after(action, ::syscall(SYS_write, file, from, cut(action, bytes)));
}
ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t at) {
  const Action action = meet(kWrite, "write", nullptr, file);
  if (fails(action)) return -1;
  return after(action, ::syscall(SYS_pwrite64, file, from, cut(action, bytes), at));
}
ssize_t pwrite64(int file, const void* from, std::size_t bytes, off_t at) {
  return pwrite(file, from, bytes, at);
}
int ftruncate(int file, off_t size) {
  const Action action = meet(kWrite, "write", nullptr, file);
  if (fails(action)) return -1;
  return after(action, static_cast<int>(::syscall(SYS_ftruncate, file, size)));
}
int fsync(int file) {
  const Action action = meet(kSync, "sync", nullptr, file);
  if (fails(action)) return -1;
  return after(action, static_cast<int>(::syscall(SYS_fsync, file)));
}
int close(int file) {
  const Action action = meet(kClose, "close", nullptr, file);
  const auto result = static_cast<int>(::syscall(SYS_close, file));  // even if it says it failed
  return fails(action) ? -1 : after(action, result);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  const Action action = meet(kRename, "rename", to, -1);
  if (fails(action)) return -1;
  return after(action, static_cast<int>(::syscall(SYS_renameat, from_folder, from, to_folder, to)));
}
int rename(const char* from, const char* to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }
int unlinkat(int folder, const char* path, int flags) {
  const Action action = meet(kUnlink, "unlink", path, -1);
  if (fails(action)) return -1;
  return after(action, static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags)));
}
void* mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  const Action action = meet(kMap, "map", nullptr, file);
  if (fails(action)) return MAP_FAILED;
  return after(action, reinterpret_cast<void*>(
                           ::syscall(SYS_mmap, at, bytes, protection, flags, file, offset)));
}
void* mmap64(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  return mmap(at, bytes, protection, flags, file, offset);
}
int socket(int domain, int type, int protocol) {
  const Action action = meet(kSocket, "socket", nullptr, domain);
  if (fails(action)) return -1;
  return static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  if (fails(meet(kThread, "thread", nullptr, 0))) return reason();
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return next<Create>("pthread_create")(thread, attributes, start, argument);
}

}  // extern "C"

#include "preprocess/reorder/metis/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/stopwatch.h"

namespace csrkit::reorder {

namespace {

// The parent polls at growing intervals: work of a millisecond ends without delay, and work of
// minutes is polled 50 times per second, which costs nothing.
constexpr std::chrono::microseconds kFirstWait{100};
constexpr std::chrono::microseconds kLongestWait{20000};

// Only the end of the child's output is kept: it says what went wrong.
constexpr off_t kKeptOutputBytes = 512;

/// Above the numbers that dup2 gives away in the child: a descriptor that is its own target would
/// keep its close-on-exec flag, and one that is another's target would be lost.
int moved_up(int descriptor) {
  if (descriptor < 0 || descriptor > kSharedFile) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kSharedFile + 1);
  close(descriptor);
  return moved;
}

/// A file in memory that takes the child's stdout and stderr.
class OutputCapture {
 public:
  OutputCapture() : descriptor_(moved_up(memfd_create("output", MFD_CLOEXEC))) {
    if (descriptor_ < 0) {
      throw IoError(std::string("no file in memory for a child's output: ") + std::strerror(errno));
    }
  }
  ~OutputCapture() { close(descriptor_); }
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  int descriptor() const { return descriptor_; }

  std::string tail() const {
    const off_t size = lseek(descriptor_, 0, SEEK_END);
    const off_t from = std::max<off_t>(0, size - kKeptOutputBytes);
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
    const ssize_t got = pread(descriptor_, text.data(), text.size(), from);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    return text;
  }

 private:
  int descriptor_;
};

/// A running child process. The destructor ends and collects it.
class ChildProcess {
 public:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  ~ChildProcess() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void end() const { kill(pid_, SIGKILL); }

  /// True once it has ended, with the `status` of waitpid. A parent that ignores SIGCHLD gets no
  /// status (ECHILD): then what the child left in shared memory tells.
  bool has_ended(int* status) {
    const pid_t got = waitpid(pid_, status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return false;
    if (got < 0) *status = 0;
    pid_ = 0;
    return true;
  }

 private:
  pid_t pid_;
};

/// What a child begins with: files and signals.
class Start {
 public:
  Start(const SharedMemory& memory, const OutputCapture& capture) {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, capture.descriptor(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, capture.descriptor(), STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files_, memory.descriptor(), kSharedFile);
    // Handlers end with exec. Signals that the caller ignores stay ignored: a run under nohup must
    // not lose its child at logout. Signals that its thread blocks are the child's again.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  ~Start() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  /// 0 or the system's reason.
  int spawn(pid_t* pid, const std::string& program) const {
    char* const words[] = {const_cast<char*>(program.c_str()), nullptr};
    return posix_spawn(pid, program.c_str(), &files_, &attributes_, words, environ);
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
  // Beyond that limit the system would end the caller by a signal.
  rlimit largest{};
  if (getrlimit(RLIMIT_FSIZE, &largest) == 0 && bytes_ > largest.rlim_cur) {
    throw MemoryError("no " + counted(bytes_, "byte") +
                      " of memory to share with a child process: the limit of file sizes "
                      "(ulimit -f) is below that");
  }
  descriptor_ = moved_up(memfd_create("csrkit", MFD_CLOEXEC));
  data_ = MAP_FAILED;
  if (descriptor_ >= 0 && ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  }
  if (data_ == MAP_FAILED) {
    const int reason = errno;
    if (descriptor_ >= 0) close(descriptor_);
    throw MemoryError("no " + counted(bytes_, "byte") +
                      " of memory to share with a child process: " + std::strerror(reason));
  }
}

SharedMemory::~SharedMemory() {
  munmap(data_, bytes_);
  close(descriptor_);
}

ChildOutcome run_program(const char* phase, const std::string& program, const SharedMemory& memory,
                         const ProgressCallback& progress, double limit_seconds) {
  const OutputCapture capture;
  pid_t pid = 0;
  const int reason = Start(memory, capture).spawn(&pid, program);
  if (reason != 0) {
    const std::string what = "'" + program + "' cannot be started for " + phase + ": ";
    if (reason == ENOMEM || reason == EAGAIN) throw MemoryError(what + std::strerror(reason));
    throw IoError(what + std::strerror(reason));
  }

  ChildProcess child(pid);
  int status = 0;
  bool is_late = false;
  const Stopwatch watch;
  for (auto wait = kFirstWait; !child.has_ended(&status); wait = std::min(2 * wait, kLongestWait)) {
    const timespec pause{0, std::chrono::nanoseconds(wait).count()};
    nanosleep(&pause, nullptr);  // a signal only ends the pause early
    if (progress && wait == kLongestWait) progress(phase, 0, 0);
    if (limit_seconds > 0 && !is_late && watch.seconds() > limit_seconds) {
      is_late = true;
      child.end();
    }
  }
  ChildOutcome outcome;
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.is_late = is_late;
  outcome.output = capture.tail();
  return outcome;
}

}  // namespace csrkit::reorder

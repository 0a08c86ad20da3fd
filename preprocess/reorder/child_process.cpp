#include "preprocess/reorder/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace csrkit::reorder {

namespace {

// The parent polls at growing intervals: work of a millisecond ends without delay, and work of
// minutes is polled 50 times per second, which costs nothing.
constexpr std::chrono::microseconds kFirstWait{100};
constexpr std::chrono::microseconds kLongestWait{20000};

// Only the end of the child's output is kept: it says what went wrong.
constexpr off_t kKeptOutputBytes = 512;

/// What the child leaves behind when its work returns.
struct Verdict {
  std::atomic<bool> is_finished;
  int result;
};

/// A file in memory that takes the child's stdout and stderr.
class OutputCapture {
 public:
  OutputCapture() : descriptor_(memfd_create("output", MFD_CLOEXEC)) {
    if (descriptor_ < 0) {
      throw Error(std::string("no file in memory for a child's output: ") + std::strerror(errno));
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

/// Blocks every signal during its lifetime: none may reach the parent's handlers inside the child.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
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
  /// status (ECHILD): then the verdict alone tells.
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

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Signals that the parent handles get their default action. Signals that it ignores stay ignored,
/// as after exec: a run under nohup must not lose its child at logout.
void forget_signal_handlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      signal(number, SIG_DFL);
    }
  }
}

/// If memory runs out, the kernel ends this process first. Raising the own score needs no
/// privilege. Without that file the kernel chooses by its own rules.
void offer_for_sacrifice() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  const char worst[] = "1000";
  if (write(file, worst, sizeof(worst) - 1) < 0) errno = 0;  // the kernel chooses, as above
  close(file);
}

/// The child's whole life; never returns.
[[noreturn]] void live(const std::function<int()>& work, Verdict* verdict, int output,
                       pid_t parent) {
  forget_signal_handlers();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent died before the line above took effect
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  offer_for_sacrifice();
  const rlimit no_core_dump{0, 0};
  setrlimit(RLIMIT_CORE, &no_core_dump);
  // The parent writes what it had not flushed yet; the child drops its copy.
  __fpurge(stdout);
  __fpurge(stderr);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  setvbuf(stdout, nullptr, _IONBF, 0);
  // Last registered, first called: exit() inside the work reaches none of the parent's handlers.
  std::atexit([] { _exit(1); });
  try {
    verdict->result = work();
    verdict->is_finished = true;
  } catch (const std::exception& error) {
    // Into the captured output; if even that fails there is nothing left to say.
    _exit(write(output, error.what(), std::strlen(error.what())) < 0 ? 2 : 1);
  }
  _exit(0);
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) {
    throw MemoryError("no " + std::to_string(bytes_) +
                      " bytes of memory to share with a child process: " + std::strerror(errno));
  }
}

SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

ChildOutcome run_in_child(const char* phase, const std::function<int()>& work,
                          const ProgressCallback& progress, double limit_seconds) {
  const SharedMemory memory(sizeof(Verdict));
  Verdict* verdict = new (memory.as<void>()) Verdict{};
  const OutputCapture capture;
  const pid_t parent = getpid();
  pid_t pid;
  int reason;
  {
    const SignalsBlocked blocked;
    pid = fork();
    reason = errno;
    if (pid == 0) live(work, verdict, capture.descriptor(), parent);
  }
  if (pid < 0) {
    const std::string what = std::string("no child process for ") + phase + ": ";
    if (reason == ENOMEM || reason == EAGAIN) throw MemoryError(what + std::strerror(reason));
    throw Error(what + std::strerror(reason));
  }

  ChildProcess child(pid);
  int status = 0;
  bool is_late = false;
  const auto start = std::chrono::steady_clock::now();
  for (auto wait = kFirstWait; !child.has_ended(&status); wait = std::min(2 * wait, kLongestWait)) {
    const timespec pause{0, std::chrono::nanoseconds(wait).count()};
    nanosleep(&pause, nullptr);  // a signal only ends the pause early
    if (progress && wait == kLongestWait) progress(phase, 0, 0);
    if (limit_seconds > 0 && !is_late && seconds_since(start) > limit_seconds) {
      is_late = true;
      child.end();
    }
  }
  ChildOutcome outcome;
  outcome.is_finished = verdict->is_finished;
  outcome.result = verdict->result;
  if (!outcome.is_finished && WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.is_late = is_late && !outcome.is_finished;
  outcome.output = capture.tail();
  return outcome;
}

}  // namespace csrkit::reorder

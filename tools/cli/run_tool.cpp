#include "tools/cli/run_tool.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "core/base/atomic_file.h"
#include "core/base/error.h"
#include "core/base/team.h"
#include "tools/cli/log.h"
#include "tools/cli/printable.h"

namespace csrkit {

namespace {

extern "C" void clean_up_and_exit(int signal_number) {
  remove_pending_temporaries();
  _exit(128 + signal_number);
}

const char* running_tool = nullptr;  // while its body runs

/// Says why and ends, where nothing can be thrown any more and memory may be used up.
[[noreturn]] void end_at_once(int exit_code, const char* reason) noexcept {
  remove_pending_temporaries();
  for (const char* part : {running_tool != nullptr ? running_tool : program_invocation_short_name,
                           ": error: ", reason, "\n"}) {
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  _exit(exit_code);
}

/// A page of a mapped file that is not there any more.
extern "C" void end_by_lost_page(int) {
  end_at_once(kExitIo,
              "a file became shorter while it was read, or its device failed; copy it first, or "
              "read .csr files with --io read");
}

void install_signal_handlers() {
  // A file over the shell's size limit is a write that fails, with a sentence and exit code 4.
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGBUS, end_by_lost_page);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU}) {
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup, background jobs: the parent's wish
    struct sigaction action {};
    action.sa_handler = clean_up_and_exit;
    sigfillset(&action.sa_mask);
    sigaction(signal_number, &action, nullptr);
  }
}

constexpr char kOutOfMemory[] = "not enough memory for this matrix on this machine";

/// An exception that left a thread of an OpenMP region, or a function that may not throw.
[[noreturn]] void end_by_exception() noexcept {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
    // On its way through a region that has something to destroy it is in no handler yet, so nobody
    // can ask which it is. Regions let none out but those of memory.
    if (std::uncaught_exceptions() > 0) end_at_once(kExitMemory, kOutOfMemory);
    end_at_once(kExitInternal, "unexpected: terminated");
  } catch (const MemoryError& error) {
    end_at_once(kExitMemory, error.what());
  } catch (const std::bad_alloc&) {
    end_at_once(kExitMemory, kOutOfMemory);
  } catch (const std::exception& error) {
    end_at_once(kExitInternal, error.what());
  } catch (...) {
    end_at_once(kExitInternal, "unexpected: terminated by something that is no exception");
  }
}

/// Before all other initialisation: that of libraries allocates, too.
[[gnu::constructor(101)]] void handle_exceptions_from_the_start() {
  std::set_terminate(end_by_exception);
}

/// While it lives, a library that ends the process leaves no temporary and a documented exit code.
class EndsWatched {
 public:
  explicit EndsWatched(const char* tool) { running_tool = tool; }
  ~EndsWatched() { running_tool = nullptr; }
  EndsWatched(const EndsWatched&) = delete;
  EndsWatched& operator=(const EndsWatched&) = delete;
};

bool is_lack_of_resources(const std::system_error& error) {
  return error.code() == std::errc::resource_unavailable_try_again ||
         error.code() == std::errc::not_enough_memory;
}

/// A caller may start a tool with standard streams closed. The next file opened would then get the
/// number of one, and a log line would land in the middle of it. What takes the place here can
/// neither be read nor written, so that a lost report is still a failure.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() gives the lowest free number, which is this one: those below are taken by now.
    const int direction = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", direction) < 0) return;
  }
}

/// A result that did not reach its reader (disk full, closed stdout) is a failure, not a success.
void flush_results() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw IoError(std::string("standard output: ") + std::strerror(errno) +
                  "; the report could not be written");
  }
}

/// Without memory even for the message, the code alone.
int fail(int exit_code, const std::string& message) noexcept {
  try {
    clear_status_line();
    std::fflush(stdout);
    log_error(message);
  } catch (const std::exception&) {
    end_at_once(exit_code, message.c_str());
  }
  return exit_code;
}

/// Lines of a message, of Python to copy, say, are indented. Other line ends are in the names of
/// files, which must not begin lines of their own.
std::string with_names_in_line(const std::string& message) {
  std::string text;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const bool is_in_name = message[i] == '\n' && message.compare(i + 1, 2, "  ") != 0;
    text += is_in_name ? printable_line("\n") : std::string(1, message[i]);
  }
  return text;
}

/// Before there is a log nothing can be logged.
void start_log_or_end(const char* tool) noexcept {
  try {
    start_log(tool);
  } catch (const std::exception&) {
    end_at_once(kExitMemory, kOutOfMemory);
  }
}

}  // namespace

/// In the place of the C library's: libgomp calls it when it cannot start its threads or has no
/// memory left. A handler of atexit() would be too late, as what was made after it is destroyed
/// before, while other threads still use it.
extern "C" [[gnu::visibility("default")]] void exit(int code) noexcept {
  if (running_tool != nullptr) {
    static std::atomic_flag is_ending = ATOMIC_FLAG_INIT;
    while (is_ending.test_and_set()) pause();  // until the thread that was first ends the process
    end_at_once(
        kExitMemory,
        "a library ended this process (see above): memory, address space or processes ran out; "
        "try fewer threads (OMP_NUM_THREADS), or raise the limits (ulimit -v, ulimit -u)");
  }
  const auto next = reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"));
  if (next != nullptr) next(code);
  _exit(code);
}

Failure current_failure() {
  try {
    throw;
  } catch (const UsageError& error) {
    return {kExitUsage, error.what()};
  } catch (const InputError& error) {
    return {kExitBadInput, error.what()};
  } catch (const IoError& error) {
    return {kExitIo, error.what()};
  } catch (const MemoryError& error) {
    return {kExitMemory, error.what()};
  } catch (const NoDeviceError& error) {
    return {kExitNoGpu, error.what()};
  } catch (const DeviceError& error) {
    return {kExitDevice, error.what()};
  } catch (const VerifyError& error) {
    return {kExitCheckFailed, error.what()};
  } catch (const Error& error) {  // a library we call failed, METIS for one, and says so itself
    return {kExitInternal, error.what()};
  } catch (const std::bad_alloc&) {
    return {kExitMemory, kOutOfMemory};
  } catch (const std::filesystem::filesystem_error& error) {
    return {kExitIo, error.what()};
  } catch (const std::system_error& error) {  // of std::thread and std::async
    return {is_lack_of_resources(error) ? kExitMemory : kExitInternal,
            std::string("a thread cannot be started: ") + error.what()};
  } catch (const std::exception& error) {
    return {kExitInternal, std::string("unexpected: ") + error.what()};
  }
}

int tell_failure(const Failure& failure) noexcept {
  const bool explains = failure.exit_code == kExitUsage && running_tool != nullptr;
  try {
    const std::string message = with_names_in_line(failure.message);
    return fail(
        failure.exit_code,
        explains ? message + "\n(" + running_tool + " --help explains the options)" : message);
  } catch (const std::bad_alloc&) {
    return fail(failure.exit_code, failure.message);
  }
}

void throw_failure(const Failure& failure) {
  switch (failure.exit_code) {
    case kExitCheckFailed: throw VerifyError(failure.message);
    case kExitUsage: throw UsageError(failure.message);
    case kExitBadInput: throw InputError(failure.message);
    case kExitIo: throw IoError(failure.message);
    case kExitMemory: throw MemoryError(failure.message);
    case kExitNoGpu: throw NoDeviceError(failure.message);
    case kExitDevice: throw DeviceError(failure.message);
    default: throw Error(failure.message);
  }
}

int run_tool(const char* tool, const std::function<int()>& body) {
  occupy_closed_streams();
  const EndsWatched watched(tool);
  start_log_or_end(tool);
  try {
    install_signal_handlers();
    limit_teams();
    int exit_code = kExitDone;
    try {
      exit_code = body();
    } catch (const Finished& finished) {
      exit_code = finished.exit_code;
    }
    clear_status_line();
    flush_results();
    return exit_code;
  } catch (...) {
    return tell_failure(current_failure());
  }
}

}  // namespace csrkit

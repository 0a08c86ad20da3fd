#include "tools/support/run_tool.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "core/atomic_file.h"
#include "core/error.h"
#include "tools/support/log.h"
#include "tools/support/progress.h"

namespace csrkit {

namespace {

extern "C" void clean_up_and_exit(int signal_number) {
  remove_pending_temporaries();
  _exit(128 + signal_number);
}

void install_signal_handlers() {
  // A file over the shell's size limit is a write that fails, with a sentence and exit code 4.
  signal(SIGXFSZ, SIG_IGN);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXCPU}) {
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup, background jobs: the parent's wish
    struct sigaction action {};
    action.sa_handler = clean_up_and_exit;
    sigfillset(&action.sa_mask);
    sigaction(signal_number, &action, nullptr);
  }
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

int fail(int exit_code, const std::string& message) {
  clear_progress_line();
  std::fflush(stdout);
  log_error(message);
  return exit_code;
}

}  // namespace

int run_tool(const char* tool, const std::function<int()>& body) {
  occupy_closed_streams();
  start_log(tool);
  install_signal_handlers();
  try {
    int exit_code = kExitDone;
    try {
      exit_code = body();
    } catch (const Finished& finished) {
      exit_code = finished.exit_code;
    }
    clear_progress_line();
    flush_results();
    return exit_code;
  } catch (const UsageError& error) {
    return fail(kExitUsage,
                std::string(error.what()) + "\n(" + tool + " --help explains the options)");
  } catch (const InputError& error) {
    return fail(kExitBadInput, error.what());
  } catch (const IoError& error) {
    return fail(kExitIo, error.what());
  } catch (const MemoryError& error) {
    return fail(kExitMemory, error.what());
  } catch (const NoDeviceError& error) {
    return fail(kExitNoGpu, error.what());
  } catch (const DeviceError& error) {
    return fail(kExitDevice, error.what());
  } catch (const VerifyError& error) {
    return fail(kExitCheckFailed, error.what());
  } catch (const Error& error) {  // a library we call failed, METIS for one, and says so itself
    return fail(kExitInternal, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kExitMemory, "not enough memory for this matrix on this machine");
  } catch (const std::exception& error) {
    return fail(kExitInternal, std::string("unexpected: ") + error.what());
  }
}

}  // namespace csrkit

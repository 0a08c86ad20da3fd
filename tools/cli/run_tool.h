// The frame of every tool, and the only place where an exception becomes a message and an exit
// code.
#pragma once

#include <functional>
#include <string>

namespace csrkit {

enum ExitCode {
  kExitDone = 0,         // done, and right if it was checked
  kExitCheckFailed = 1,  // a check or comparison failed
  kExitUsage = 2,
  kExitBadInput = 3,
  kExitIo = 4,
  kExitMemory = 5,  // forecast or real
  kExitNoGpu = 6,   // the only skip a test may count
  kExitDevice = 7,
  kExitInternal = 70,  // our own bug: an exception nobody should see
};

/// Thrown by what is complete in itself, such as --help; carries the exit code.
struct Finished {
  int exit_code = kExitDone;
};

/// An exception as users see it.
struct Failure {
  int exit_code = kExitDone;
  std::string message;
};

/// What is being handled, in a catch block. Not for Finished.
Failure current_failure();

/// Says it on stderr. Returns the exit code.
int tell_failure(const Failure& failure) noexcept;

/// Throws an error that current_failure() would describe so: what happened elsewhere.
[[noreturn]] void throw_failure(const Failure& failure);

/// Runs `body` and returns its exit code, or that of what it threw. On SIGINT, SIGTERM, SIGHUP,
/// SIGQUIT, SIGPIPE and SIGXCPU unfinished output is removed and the process exits with 128 + the
/// signal's number.
int run_tool(const char* tool, const std::function<int()>& body);

}  // namespace csrkit

#include "tests/soak/faults/fault_plan.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace csrkit::faults {

namespace {

constexpr std::array<const char*, kCalls> kNames = {"any",  "open",   "read",   "write",
                                                    "sync", "close",  "rename", "unlink",
                                                    "map",  "thread", "socket", "allocate"};

struct Fault {
  int call = -1;
  long number = 0;
  Action action = Action::none;
  int reason = 0;
  bool lasts = false;
};

Fault fault;
std::array<std::atomic<long>, kCalls> counts;
std::atomic<bool> is_armed{false};
int log_file = -1;

void log_line(const char* text, int size) {
  if (log_file < 0) return;
  const long ignored = ::syscall(SYS_write, log_file, text, size);
  static_cast<void>(ignored);
}

void read_action(const char* action) {
  if (std::strcmp(action, "short") == 0) {
    fault.action = Action::cut;
  } else if (std::strcmp(action, "kill") == 0) {
    fault.action = Action::kill_before;
  } else if (std::strcmp(action, "killed") == 0) {
    fault.action = Action::kill_after;
  } else {
    fault.action = Action::fail;
    fault.reason = std::atoi(action);
    fault.lasts = action[std::strlen(action) - 1] == '+';
  }
}

}  // namespace

void begin_plan() {
  if (const char* path = std::getenv("CSRKIT_FAULT_LOG")) {
    log_file = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  }
  if (const char* text = std::getenv("CSRKIT_FAULT")) {
    char name[32] = {}, action[32] = {};
    constexpr int kWords = 3;
    if (std::sscanf(text, "%31s %ld %31s", name, &fault.number, action) != kWords) std::abort();
    for (int i = 0; i < kCalls; ++i) {
      if (std::strcmp(kNames[static_cast<std::size_t>(i)], name) == 0) fault.call = i;
    }
    if (fault.call < 0) std::abort();
    read_action(action);
  }
  is_armed = true;
}

void end_plan() {
  is_armed = false;
  for (std::size_t i = 0; i < kCalls; ++i) {
    char line[64];
    log_line(line, std::snprintf(line, sizeof line, "total %s %ld\n", kNames[i], counts[i].load()));
  }
}

Action meet(Call call, const char* label, const char* name, int descriptor) {
  if (!is_armed) return Action::none;
  const bool is_of_files = call != kAllocate && call != kThread && call != kSocket;
  const long number = ++counts[call];
  const long any = is_of_files ? ++counts[kAny] : 0;
  if (log_file >= 0 && call != kAllocate) {
    char line[512];
    const int size = name != nullptr
                         ? std::snprintf(line, sizeof line, "%s %.400s\n", label, name)
                         : std::snprintf(line, sizeof line, "%s %d\n", label, descriptor);
    log_line(line, size);
  }
  const long at = fault.call == kAny ? any : fault.call == call ? number : 0;
  if (at == 0 || (fault.lasts ? at < fault.number : at != fault.number)) return Action::none;
  if (fault.action == Action::kill_before) ::raise(SIGKILL);
  return fault.action;
}

int reason() { return fault.reason; }

}  // namespace csrkit::faults

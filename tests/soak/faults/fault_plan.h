// Which call is to fail, and how: the plan that failing_calls.cpp follows.
#pragma once

namespace csrkit::faults {

enum Call : int {
  kAny,  // all that touch files, together
  kOpen,
  kRead,
  kWrite,
  kSync,
  kClose,
  kRename,
  kUnlink,
  kMap,
  kThread,
  kSocket,
  kAllocate,
  kCalls
};

enum class Action { none, fail, cut, kill_before, kill_after };

/// Reads CSRKIT_FAULT and CSRKIT_FAULT_LOG. Calls count from here on: what the loader and static
/// constructors do is not the tool's.
void begin_plan();
/// Writes the totals to the log.
void end_plan();

/// Counts a call, logs it with its label, and says what is to happen to it. Kills before it.
Action meet(Call call, const char* label, const char* name, int descriptor);
/// The errno of failing calls.
int reason();

}  // namespace csrkit::faults

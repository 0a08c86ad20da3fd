// Runs work that may crash in a child process. What it writes into shared memory survives.
#pragma once

#include <functional>
#include <string>

#include "core/base/progress.h"
#include "core/base/types.h"

namespace csrkit::reorder {

/// Zeroed memory that a child process and its parent both see.
class SharedMemory {
 public:
  /// Throws MemoryError.
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// How a child ended: its work returned, a signal stopped it, or it left early (exit, an
/// exception).
struct ChildOutcome {
  bool is_finished = false;  // the work returned, with `result`
  int result = 0;
  int signal = 0;        // 0 = none
  bool is_late = false;  // ended at its time limit
  std::string output;    // the end of what it wrote to stdout and stderr
};

/// Runs `work` in a copy of this process and waits. The child shares nothing but SharedMemory and
/// cannot disturb its parent: it has no signal handlers, no exit handlers and no core dump, and its
/// stdout and stderr are captured. It dies with the parent, and before the parent if memory runs
/// out. It has one thread, so `work` must not use OpenMP. After `limit_seconds` (0 = none) it is
/// ended. Meanwhile `progress` is called with `phase` from time to time; if that throws, the child
/// is ended and collected first. Throws MemoryError or Error if no process can be made.
ChildOutcome run_in_child(const char* phase, const std::function<int()>& work,
                          const ProgressCallback& progress = {}, double limit_seconds = 0);

}  // namespace csrkit::reorder

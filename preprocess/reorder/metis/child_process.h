// Runs a program that may crash and waits for it. What it writes into shared memory survives.
#pragma once

#include <string>

#include "core/base/progress.h"
#include "core/base/types.h"

namespace csrkit::reorder {

/// A file in memory, zeroed, mapped here and to be mapped by a child process.
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
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// How a child ended.
struct ChildOutcome {
  int signal = 0;        // that stopped it, 0 = none
  bool is_late = false;  // ended at its time limit
  std::string output;    // the end of what it wrote to stdout and stderr
};

/// The descriptor under which a child finds the shared memory.
inline constexpr int kSharedFile = 3;

/// Starts `program` with `memory` as its descriptor kSharedFile, and waits. The caller's process is
/// not copied: it may have any number of threads, locks and devices. The child has the caller's
/// environment, signals at their defaults (those that the caller ignores stay ignored), nothing to
/// read, and its stdout and stderr are captured. After `limit_seconds` (0 = none) it is ended.
/// Meanwhile `progress` is called with `phase` from time to time; if that throws, the child is
/// ended and collected first. Throws MemoryError, or IoError if the program cannot be started.
ChildOutcome run_program(const char* phase, const std::string& program, const SharedMemory& memory,
                         const ProgressCallback& progress = {}, double limit_seconds = 0);

}  // namespace csrkit::reorder

// Memory that several ranks of one host see at once, so that one reads what another wrote without a
// copy. Threads of one process share an array of that process; processes map a file in the system's
// memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ranks/communicator.h"

namespace csrkit::ranks {

/// Contents start undefined. Lives as long as any rank holds it.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  virtual void* data() const = 0;
  /// Clears the bytes [begin, end). Each rank calls it for the bytes that it will write, before any
  /// rank uses them: then their pages lie near its processors, and are large ones if the system has
  /// some.
  virtual void take(std::uint64_t begin, std::uint64_t end) = 0;
};

/// All ranks together, each with the number of its group and the bytes that the group shares. Every
/// rank gets its group's memory, or none gets any: if a group is on several hosts or the system
/// refuses. Then `why_not` says why, in the same words on all ranks.
std::shared_ptr<SharedMemory> share_memory(Communicator& communicator, int group,
                                           std::uint64_t bytes, std::string* why_not);

}  // namespace csrkit::ranks

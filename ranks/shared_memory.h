// Memory that several ranks of one host see at once, so that one reads what another one wrote
// without a copy in between. Threads of one process share an array of it; processes map one of the
// system's.
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
  /// For each rank and the bytes [begin, end) that it will write, before anybody uses them: their
  /// pages come to be near its processors, and are large ones where the system has some. Clears
  /// them.
  virtual void take(std::uint64_t begin, std::uint64_t end) = 0;
};

/// All ranks together, each with the number of its group and the bytes that the group shares: every
/// rank gets its group's memory, or none gets any, because a group is on several hosts or the
/// system refuses; then `why_not` says it, in the same words on all ranks.
std::shared_ptr<SharedMemory> share_memory(Communicator& communicator, int group,
                                           std::uint64_t bytes, std::string* why_not);

}  // namespace csrkit::ranks

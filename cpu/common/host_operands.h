// Where the operands of CPU kernels are.
#pragma once

#include <initializer_list>

#include "core/base/error.h"
#include "core/matrix/memory_space.h"

namespace csrkit::cpu {

/// Throws UsageError if an operand is in device memory.
inline void require_on_host(std::initializer_list<MemorySpace> operands) {
  for (const MemorySpace space : operands) {
    if (space == MemorySpace::device) {
      throw UsageError("a CPU kernel cannot reach device memory; copy the operand to the host");
    }
  }
}

}  // namespace csrkit::cpu

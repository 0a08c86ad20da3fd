// When a format that pads would explode.
#pragma once

#include <algorithm>
#include <string>

#include "core/base/counted.h"
#include "cpu/common/memory_budget.h"

namespace csrkit::cpu::spmv {

/// Reserves `bytes` for a padded format. Throws MemoryError, with both numbers, if that is more
/// than four times what CSR takes and more than 16 MiB, or does not fit the budget.
inline void reserve_padded(MemoryBudget& budget, const CsrMatrix& a, std::uint64_t bytes,
                           const char* format) {
  constexpr std::uint64_t kMostTimes = 4, kAlways = 16u << 20;
  const std::uint64_t most = std::max(kMostTimes * a.size_bytes(), kAlways);
  if (bytes > most) {
    throw MemoryError(std::string(format) + " would pad this matrix to " + counted(bytes, "byte") +
                      "; its limit is " + std::to_string(most) + ", " + std::to_string(kMostTimes) +
                      " times what CSR takes; use csr_balanced, compressed or hyb");
  }
  budget.reserve(bytes, format);
}

}  // namespace csrkit::cpu::spmv

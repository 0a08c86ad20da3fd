// Which dense operands are refused before anything is said or made of them.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/base/types.h"

namespace csrkit {

/// Throws MemoryError for an operand of more than 2^52 elements. No machine holds one, and bytes of
/// several could not be added up in 64 bits.
inline void require_countable(Index rows, Index dense_cols) {
  constexpr Offset kMostElements = Offset{1} << 52;
  if (Offset{rows} * dense_cols <= kMostElements) return;
  throw MemoryError("a dense operand of " + std::to_string(rows) + " x " +
                    std::to_string(dense_cols) +
                    " elements is more than any machine holds; use fewer dense columns");
}

}  // namespace csrkit

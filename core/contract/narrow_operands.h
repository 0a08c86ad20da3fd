// The kinds that graph learning uses: an f32 matrix with dense operands of 16 bits, which halves
// the bytes of B. Sums are in f32.
#pragma once

#include "core/contract/capability.h"

namespace csrkit {

struct SpmmProblem;

/// An f32 matrix with f16 or bf16 dense operands.
inline constexpr Capabilities kNarrowOperands = 1u << 23;

bool has_narrow_operands(const SpmmProblem& problem);

}  // namespace csrkit

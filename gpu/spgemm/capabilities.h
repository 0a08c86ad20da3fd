// What the plan does for every kernel: the least that a row of kernels.inc declares.
#pragma once

#include "core/contract/spgemm.h"

namespace csrkit::gpu {

inline constexpr Capabilities kDoneByPlan =
    kImplicitOnes | kF32 | kF64 | kF16 | kBf16 | kTranspose | kMask | kDropBelow;

inline constexpr Capabilities kPlusTimes =
    kDoneByPlan | kAlphaBeta | kIeeeSpecials | kDeterministic | kReuse | kRowBlocks;

inline constexpr Capabilities kProduction = kPlusTimes | kSemirings;

}  // namespace csrkit::gpu

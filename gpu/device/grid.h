// Sizes of grids.
#pragma once

#include "core/base/types.h"

namespace csrkit::gpu {

/// The largest grid in y and z. Products with more column blocks need several launches.
inline constexpr Offset kMaxGridY = 65535;

/// Blocks for `items`, of which each takes `per_block`; 0 or more items, fewer than 2^31 blocks.
inline unsigned blocks_of(Offset items, Offset per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace csrkit::gpu

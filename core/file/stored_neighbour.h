// How `rank_lists` stores a neighbour. Internal to core/file.
#pragma once

#include "core/base/types.h"

namespace csrkit::rank_layout {

/// A neighbour as it stands in the file: `part` sends halo_cols columns and gets send_cols.
struct StoredNeighbour {
  Index part, halo_cols, send_cols, reserved;
};
static_assert(sizeof(StoredNeighbour) == 16);

}  // namespace csrkit::rank_layout

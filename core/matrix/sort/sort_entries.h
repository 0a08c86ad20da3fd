// Sorting coordinates by row and column, in parallel and stably.
#pragma once

#include <utility>

#include "core/matrix/coo_matrix.h"

namespace csrkit {

/// Sorts `coo` by row and column; its row indices are gone afterwards. Returns row offsets and how
/// many entries repeat their predecessor's place.
std::pair<Buffer<Offset>, Offset> sort_entries(CooMatrix& coo);

/// Reverses entries whose keys never ascend; equal ones keep their order.
void reverse_entries(CooMatrix& coo);

/// Threads worth waking for so many entries.
int sort_threads_for(Offset work);

}  // namespace csrkit

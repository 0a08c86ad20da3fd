// The symbolic phase: the rows of every bin are counted by that bin's kernel. Sorted rows may be
// made at the same time (numeric/staged_rows.h).
#pragma once

#include "gpu/spgemm/adaptive_rows/phase_inputs.h"

namespace csrkit::gpu {

/// Queues counting the short rows, whose number only the device knows yet.
template <class Value>
void count_short_rows_early(const PhaseInputs& in, const RowsWork<Value>& work);

/// Queues counting all rows; work.lists.to_count says which bin they are in, and symbolic_memory.h
/// has made room. `short_rows_are_counted`: or on their way. Sorts the products of hubs, too.
template <class Value>
void count_all_rows(const PhaseInputs& in, bool short_rows_are_counted, RowsWork<Value>& work);

}  // namespace csrkit::gpu

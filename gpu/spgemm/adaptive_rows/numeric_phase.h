// The numeric phase: the rows of every bin are made by that bin's kernel.
#pragma once

#include "gpu/spgemm/adaptive_rows/phase_inputs.h"

namespace csrkit::gpu {

/// What kernels that make rows are given. Of an empty `c` they get no arrays.
template <class Value>
MakeRows<Value> rows_to_make(const PhaseInputs& in, const RowsWork<Value>& work,
                             const DeviceProduct& c);

/// Queues making the short rows, whose number only the device knows yet. C has room for every
/// product.
template <class Value>
void make_short_rows_early(const PhaseInputs& in, const DeviceProduct& c, RowsWork<Value>& work);

/// Queues making all rows, but for short rows that are made; work.lists says which bin they are in.
template <class Value>
void make_all_rows(const PhaseInputs& in, Structure structure, const RowsWork<Value>& work,
                   const DeviceProduct& c);

}  // namespace csrkit::gpu

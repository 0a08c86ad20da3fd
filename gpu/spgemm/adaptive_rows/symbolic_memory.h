// Memory of the symbolic phase, whose size the host knows once all rows are profiled.
#pragma once

#include "gpu/spgemm/adaptive_rows/phase_inputs.h"

namespace csrkit::gpu {

/// Room for the bits that rows of bit ranges keep, for parts of rows that are cut (which are listed
/// as well), for the products of hubs, and for rows that are made while they are counted. `bits`
/// only grows: it is kept for the plan's next product.
template <class Value>
void make_room_for_counting(const PhaseInputs& in, const HostTotals& totals, DeviceMemory& memory,
                            DeviceBuffer<std::uint32_t>& bits, RowsWork<Value>& work);

}  // namespace csrkit::gpu

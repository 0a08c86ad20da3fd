// What a mask and --drop-below leave of C, for every kernel.
#pragma once

#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// The entries of `c` whose position is stored in `mask` (null: any) and for which not
/// |value| < drop_below (0: any; a NaN stays). Waits for their number.
DeviceProduct filtered_product(const DeviceProduct& c, const DeviceCsrView<void>* mask,
                               double drop_below, DeviceMemory& memory);

/// Most bytes that this holds at once beside `c`.
std::uint64_t filter_forecast_bytes(const SpgemmSizes& sizes, ValueKind kind);

}  // namespace csrkit::gpu

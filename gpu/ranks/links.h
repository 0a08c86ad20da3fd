// Exchanges between GPUs without a product, timed: what csr-probe writes into a cluster profile.
#pragma once

#include <memory>
#include <vector>

#include "core/contract/device_ranks.h"
#include "gpu/ranks/nccl.h"

namespace csrkit::gpu {

/// At least two `devices`; tests may name one twice. `most_bytes` is the most of one exchange and
/// GPU. Throws UsageError, NoDeviceError, MemoryError, DeviceError.
std::unique_ptr<DeviceLinks> make_device_links(const std::vector<int>& devices,
                                               std::uint64_t most_bytes);
/// The same with the caller's NCCL.
std::unique_ptr<DeviceLinks> make_device_links(const std::vector<int>& devices,
                                               std::uint64_t most_bytes, const NcclLibrary* nccl);

}  // namespace csrkit::gpu

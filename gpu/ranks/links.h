// Exchanges between GPUs without a product, timed: what csr-probe writes into a cluster profile.
#pragma once

#include <memory>
#include <vector>

#include "core/contract/device_ranks.h"
#include "gpu/ranks/nccl.h"

namespace csrkit::gpu {

/// Two of `devices` or more; one may be named twice, for tests.
std::unique_ptr<DeviceLinks> make_device_links(const std::vector<int>& devices,
                                               std::uint64_t most_bytes);
/// The same with an NCCL of the caller's.
std::unique_ptr<DeviceLinks> make_device_links(const std::vector<int>& devices,
                                               std::uint64_t most_bytes, const NcclLibrary* nccl);

}  // namespace csrkit::gpu

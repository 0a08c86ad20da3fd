// All ranks that one process drives: the order of their steps, as one CUDA graph over all of their
// GPUs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/device_ranks.h"
#include "gpu/ranks/nccl.h"

namespace csrkit::gpu {

/// A product of the largest matrices takes about a second. An exchange without progress for so long
/// waits for a rank that is gone.
inline constexpr double kSilenceSeconds = 20;

std::unique_ptr<DeviceRank> make_device_rank(const DeviceShare& share, const std::string& kernel,
                                             const PlanOptions& options);

std::unique_ptr<DeviceRanks> join_device_ranks(const std::vector<DeviceRank*>& ranks, int all,
                                               HaloWay way, const std::vector<std::string>& told);
/// The same with the caller's NCCL, for tests. A rank that does not come within `silence_seconds`
/// is given up.
std::unique_ptr<DeviceRanks> join_device_ranks(const std::vector<DeviceRank*>& ranks, int all,
                                               HaloWay way, const std::vector<std::string>& told,
                                               const NcclLibrary* nccl,
                                               double silence_seconds = kSilenceSeconds);

/// Lets kernels of `device` read memory that cudaMalloc gave on `other`. Throws UsageError if the
/// hardware cannot.
void let_read(int device, int other);

/// The functions of DeviceRankMakers.
std::string new_nccl_id();
std::vector<std::string> device_addresses();
std::string why_no_peers(const std::vector<int>& devices);

}  // namespace csrkit::gpu
